"""A person in Neovim: opens a job, sees the squiggle, applies the fix, and sees the rendered JobSet change beside it.

It plays where Neovim is installed, with the plugin that users get.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.marked import RUNTIME, job

NVIM = shutil.which("nvim")
PLUGIN = Path(__file__).parents[2] / "editors" / "neovim" / "trainform.lua"
STORY = """\
local function say(...)
  io.stdout:write(table.concat({ ... }, " ") .. "\\n")
end

local function wait_for(what, is_there)
  if not vim.wait(60000, is_there, 20) then
    say("never saw", what)
    vim.cmd("cquit")
  end
end

local function beside()
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(buffer):find("trainform%-rendered:") then
      return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\\n"), buffer
    end
  end
  return ""
end

local function errors()
  return vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR })
end

dofile(os.getenv("PLUGIN")).setup({ command = { os.getenv("PYTHON"), "-m", "trainform", "lsp" } })
vim.ui.select = function(actions, _, choose)
  say("chooses", actions[1][2] and actions[1][2].title or actions[1].action.title)
  choose(actions[1], 1)
end

vim.cmd("edit jobs/llm.yaml")
vim.bo.filetype = "yaml"
wait_for("the squiggle", function() return #errors() > 0 end)
local found = errors()[1]
say("squiggle in line", tostring(found.lnum + 1), found.code or found.user_data.lsp.code)

vim.cmd("TrainformRendered")
wait_for("the preview", function() return beside() ~= "" end)
say("beside:", beside():match("[^\\n]*"))

vim.api.nvim_win_set_cursor(0, { found.lnum + 1, found.col })
vim.lsp.buf.code_action()
wait_for("the fix", function() return #errors() == 0 end)
say("line", tostring(found.lnum + 1), "is now", vim.trim(vim.api.nvim_get_current_line()))
wait_for("the JobSet", function() return beside():find("parallelism: 4") ~= nil end)
say("beside:", beside():match("parallelism: %d"))

vim.cmd("substitute/4/6/")
wait_for("the change", function() return beside():find("parallelism: 6") ~= nil end)
say("beside:", beside():match("parallelism: %d"))

vim.cmd("doautocmd CursorMoved")
local _, buffer = beside()
local line = vim.api.nvim_win_get_cursor(vim.fn.bufwinid(buffer))[1]
say("the cursor beside is at", vim.trim(vim.api.nvim_buf_get_lines(buffer, line - 1, line, false)[1]))
say(vim.bo.modified and "nothing was saved" or "saved")
vim.cmd("qall!")
"""


@pytest.mark.skipif(NVIM is None, reason="needs Neovim")
def test_a_fix_in_neovim_changes_the_jobset_beside_it(tmp_path):
    files = {
        "trainform.yaml": "",
        "jobs/llm.yaml": job(spec="trainer:\n  numNode: 4\n"),
        "runtimes/torch.yaml": RUNTIME,
        "trainform.py": "raise SystemExit('a module of the repository was run')",
    }
    for file, text in files.items():
        (tmp_path / "repository" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "repository" / file).write_text(text)
    (tmp_path / "story.lua").write_text(STORY)
    run = subprocess.run(
        [str(NVIM), "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {tmp_path / 'story.lua'}"],
        cwd=tmp_path / "repository",
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PLUGIN": str(PLUGIN), "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert run.stdout.splitlines() == [
        "squiggle in line 9 TF101",
        "beside: # This job is not rendered:",
        "chooses Rename to numNodes",
        "line 9 is now numNodes: 4",
        "beside: parallelism: 4",
        "beside: parallelism: 6",
        "the cursor beside is at parallelism: 6",
        "nothing was saved",
    ], run.stderr
    assert (tmp_path / "repository/jobs/llm.yaml").read_text() == files["jobs/llm.yaml"]
