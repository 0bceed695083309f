-- Health of a PodGroup of the coscheduling plugin. Argo CD runs this with the object as `obj`, in Lua 5.1 without
-- the string library.
--
-- Always Healthy: the JobSet alone says how its job does. Once a pod failed, the plugin keeps the phase Failed for
-- ever, even when the gang recovers. And a gang stays Pending until its pods exist, which come with the JobSet in the
-- next wave: Progressing would make Argo CD wait here for ever.

local status = obj.status or {}
local phase = status.phase

local function health(name, message)
  return { status = name, message = message }
end

local function members()
  local wanted = (obj.spec or {}).minMember or 0
  return phase .. ": " .. (status.running or 0) .. " of " .. wanted .. " pods run"
end

if phase == "Failed" then
  return health("Healthy", "pods of the gang failed; the JobSet says whether they start again")
end
if phase == "Unknown" then
  return health("Healthy", "the scheduler lost track of the gang")
end
if phase == nil or phase == "" then
  return health("Healthy", "not yet seen by its scheduler")
end
return health("Healthy", members())
