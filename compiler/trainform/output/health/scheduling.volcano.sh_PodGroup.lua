-- Health of a PodGroup of Volcano. Argo CD runs this with the object as `obj`, in Lua 5.1 without
-- the string library.
--
-- Always Healthy: the JobSet alone says how its job does. A gang stays Pending until its pods exist, and those come
-- with the JobSet in the next wave: Progressing would make Argo CD wait here for ever.

local status = obj.status or {}
local phase = status.phase

local function health(name, message)
  return { status = name, message = message }
end

local function members()
  for _, each in ipairs(status.conditions or {}) do
    if each.type == "Unschedulable" and each.status == "True" and each.message ~= nil and phase ~= "Running" then
      return phase .. ": " .. each.message
    end
  end
  return phase .. ": " .. (status.running or 0) .. " of " .. ((obj.spec or {}).minMember or 0) .. " pods run"
end

if phase == "Failed" then
  return health("Healthy", "pods of the gang failed; the JobSet says whether they start again")
end
if phase == "Unknown" then
  return health("Healthy", "some pods of the gang run, others find no place; " .. members())
end
if phase == nil or phase == "" then
  return health("Healthy", "not yet seen by its scheduler")
end
return health("Healthy", members())
