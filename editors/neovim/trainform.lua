-- trainform in Neovim 0.7 or later: put this file into ~/.config/nvim/lua/ and write in init.lua
--
--     require("trainform").setup()
--
-- It starts `trainform lsp` for the YAML files of a repository with a trainform.yaml. `:TrainformRendered` opens the
-- rendered manifests of the job at the cursor beside it; they follow each change, and scroll with the cursor.
local M = { command = { "trainform", "lsp" } }

local previews = {} -- by URI: the buffer, the client, and where its lines come from

local function root_of(file)
  local found = vim.fn.findfile("trainform.yaml", vim.fn.fnamemodify(file, ":p:h") .. ";")
  return found ~= "" and vim.fn.fnamemodify(found, ":p:h") or nil
end

local function fill(preview, told)
  if told.text then
    vim.bo[preview.buffer].modifiable = true
    vim.api.nvim_buf_set_lines(preview.buffer, 0, -1, false, vim.split(told.text:gsub("\n$", ""), "\n"))
    vim.bo[preview.buffer].modifiable = false
    preview.origins = told.origins
  end
  if told.note ~= "" then
    vim.notify("trainform: " .. told.note)
  end
end

local function follow(source)
  local line, uri = vim.api.nvim_win_get_cursor(0)[1] - 1, vim.uri_from_bufnr(source)
  for _, preview in pairs(previews) do
    local window = vim.fn.bufwinid(preview.buffer)
    for _, origin in ipairs(window ~= -1 and preview.origins or {}) do
      if origin.uri == uri and origin.sourceLine == line then
        vim.api.nvim_win_set_cursor(window, { origin.line + 1, 0 })
        break
      end
    end
  end
end

local function open_beside(told, client_id)
  local source = vim.api.nvim_get_current_win()
  vim.cmd("botright vnew")
  local buffer = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_name(buffer, told.uri)
  vim.bo[buffer].buftype, vim.bo[buffer].bufhidden, vim.bo[buffer].swapfile = "nofile", "wipe", false
  vim.bo[buffer].syntax = "yaml"
  vim.api.nvim_set_current_win(source)
  previews[told.uri] = { buffer = buffer }
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = buffer,
    callback = function()
      previews[told.uri] = nil
      local client = vim.lsp.get_client_by_id(client_id)
      if client then
        client.request("workspace/executeCommand", {
          command = "trainform.closeRendered",
          arguments = { { uri = told.uri } },
        }, function() end)
      end
    end,
  })
  fill(previews[told.uri], told)
end

--- Open the rendered manifests of the job at the cursor, in an Environment or the first that selects it.
function M.open_rendered(environment)
  local at = vim.lsp.util.make_position_params(0, "utf-16")
  local asked = { uri = at.textDocument.uri, position = at.position, environment = environment }
  local command = { command = "trainform.openRendered", arguments = { asked } }
  vim.lsp.buf_request(0, "workspace/executeCommand", command, function(problem, told, context)
    if problem or not told or told == vim.NIL then
      vim.notify("trainform: " .. (problem and problem.message or "there is no job here"))
    elseif previews[told.uri] then
      fill(previews[told.uri], told)
    else
      open_beside(told, context.client_id)
    end
  end)
end

local clients = {} -- by root, for versions without vim.lsp.start

local function start(buffer)
  local root = root_of(vim.api.nvim_buf_get_name(buffer))
  if not root then
    return
  end
  local config = {
    name = "trainform",
    cmd = M.command,
    cmd_cwd = vim.loop.os_homedir(), -- a program, or a module of Python, that lies in the repository is not run
    root_dir = root,
    workspace_folders = { { uri = vim.uri_from_fname(root), name = vim.fn.fnamemodify(root, ":t") } },
    handlers = {
      ["trainform/rendered"] = function(_, told)
        if previews[told.uri] then
          fill(previews[told.uri], told)
        end
      end,
    },
  }
  if vim.lsp.start then
    vim.lsp.start(config, { bufnr = buffer })
  else
    clients[root] = clients[root] or vim.lsp.start_client(config)
    vim.lsp.buf_attach_client(buffer, clients[root])
  end
  vim.api.nvim_create_autocmd("CursorMoved", {
    buffer = buffer,
    callback = function()
      follow(buffer)
    end,
  })
end

--- Start the server for YAML files. `options.command` is how to start it: `{ "trainform", "lsp" }`.
function M.setup(options)
  M.command = options and options.command or M.command
  vim.api.nvim_create_autocmd("FileType", {
    pattern = { "yaml", "yaml.*", "jinja" },
    callback = function(event)
      start(event.buf)
    end,
  })
  vim.api.nvim_create_user_command("TrainformRendered", function(given)
    M.open_rendered(given.args ~= "" and given.args or nil)
  end, { nargs = "?" })
end

return M
