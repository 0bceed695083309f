-- Health of a Kueue Workload, which Argo CD shows below its JobSet. Argo CD runs this with the object as `obj`,
-- in Lua 5.1 without the string library.
--
-- A Workload is there to be admitted: from then on it is Healthy, and the JobSet tells how training goes.

local conditions = {}
for _, each in ipairs((obj.status or {}).conditions or {}) do
  conditions[each.type] = each
end

local function holds(kind)
  return conditions[kind] ~= nil and conditions[kind].status == "True"
end

local function message(kind, otherwise)
  local found = conditions[kind]
  if found ~= nil and found.message ~= nil and found.message ~= "" then
    return found.message
  end
  return otherwise
end

local function health(status, text)
  return { status = status, message = text }
end

local function queue(text)
  return text .. " in queue " .. ((obj.spec or {}).queueName or "(none)")
end

if holds("Finished") then
  local reason = conditions.Finished.reason
  if reason == "Failed" or reason == "AdmissionChecksRejected" then
    return health("Degraded", message("Finished", "failed"))
  end
  return health("Healthy", message("Finished", "finished"))
end

-- Kueue deactivates what it gave up (`DeactivatedDueToRequeuingLimitExceeded`, for example); people set it aside.
if (obj.spec or {}).active == false then
  local why = (conditions.Evicted or {}).reason
  if why == nil or why == "Deactivated" or why == "InactiveWorkload" then
    return health("Suspended", message("Evicted", "deactivated: set spec.active to true to queue it again"))
  end
  return health("Degraded", message("Evicted", "Kueue gave it up"))
end

if holds("Evicted") then
  return health("Progressing", message("Evicted", "evicted, and queued again"))
end
if holds("Admitted") then
  return health("Healthy", message("Admitted", "admitted"))
end
if holds("QuotaReserved") then
  return health("Progressing", message("QuotaReserved", "has its quota") .. "; waits for admission checks")
end
return health("Progressing", message("QuotaReserved", queue("waits for quota")))
