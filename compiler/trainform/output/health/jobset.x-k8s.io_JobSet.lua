-- Health of a JobSet. Argo CD runs this with the object as `obj`, in Lua 5.1 without the string library.
--
-- Progressing while it runs never blocks a sync: JobSets are in the last wave, which Argo CD does not wait for.

local function condition(kind)
  for _, each in ipairs((obj.status or {}).conditions or {}) do
    if each.type == kind and each.status == "True" then
      return each
    end
  end
  return nil
end

local function health(status, message)
  return { status = status, message = message }
end

local function reason(found, otherwise)
  if found ~= nil and found.message ~= nil and found.message ~= "" then
    return found.message
  end
  return otherwise
end

local function waiting()
  local labels = (obj.metadata or {}).labels or {}
  local queue = labels["kueue.x-k8s.io/queue-name"]
  if queue ~= nil then
    return "suspended: waits in queue " .. queue .. " until Kueue admits it"
  end
  return "suspended: starts when spec.suspend is no longer true"
end

local function running()
  local status = obj.status
  if status == nil then
    return "not yet seen by the JobSet controller"
  end
  local parts = {}
  if (status.restarts or 0) > 0 then
    table.insert(parts, "restarts: " .. status.restarts)
  end
  for _, job in ipairs(status.replicatedJobsStatus or {}) do
    local counts = (job.active or 0) .. " active, " .. (job.ready or 0) .. " ready, "
    table.insert(parts, job.name .. ": " .. counts .. (job.succeeded or 0) .. " succeeded")
  end
  if #parts == 0 then
    return "starting"
  end
  return table.concat(parts, "; ")
end

-- The end comes first: conditions of earlier states stay behind in the list.
local ended = (obj.status or {}).terminalState
local failed, completed = condition("Failed"), condition("Completed")
if failed ~= nil or ended == "Failed" then
  return health("Degraded", reason(failed, "failed"))
end
if completed ~= nil or ended == "Completed" then
  return health("Healthy", reason(completed, "completed"))
end
if (obj.spec or {}).suspend == true then
  return health("Suspended", waiting())
end
return health("Progressing", running())
