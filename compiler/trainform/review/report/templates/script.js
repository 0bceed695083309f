(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("js");
  const PAGE = 100, MOST_PODS = 24, MOST_DOTS = 8;
  const COLUMNS = ["env", "queue", "framework", "kueue", "state", "change", "live"];
  const byId = (id) => document.getElementById(id);

  // A page in a sandbox may have no storage; the choice then lasts as long as the page.
  const stored = { get() { try { return localStorage.getItem("theme") || ""; } catch { return ""; } },
    set(value) { try { localStorage.setItem("theme", value); } catch { /* not kept */ } } };
  const setTheme = (theme) => { if (theme) root.dataset.theme = theme; else delete root.dataset.theme; };
  setTheme(stored.get());

  const make = (tag, { text, name, ...attributes } = {}, ...children) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    if (text !== undefined) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const draw = (tag, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

  // The pods of a step: a box each, with a dot for each GPU.
  const pods = (count, gpus) => {
    const shown = Math.min(count, MOST_PODS), across = 6, lines = Math.ceil(shown / across);
    const picture = draw("svg", { class: "pods", width: across * 36, height: lines * 26, "aria-hidden": "true" });
    for (let pod = 0; pod < shown; pod++) {
      const x = (pod % across) * 36 + 0.5, y = Math.floor(pod / across) * 26 + 0.5;
      picture.append(draw("rect", { x, y, width: 31, height: 21, rx: 3 }));
      if (gpus > MOST_DOTS) picture.append(draw("text", { x: x + 15.5, y: y + 14.5 }, gpus));
      else for (let gpu = 0; gpu < gpus; gpu++)
        picture.append(draw("circle", { cx: x + 5 + (gpu % 4) * 7, cy: y + 6.5 + Math.floor(gpu / 4) * 8, r: 2.4 }));
    }
    return picture;
  };

  // How many steps one after the other come before this one.
  const layerOf = (step, steps, above = []) => {
    const before = step[4].map(([name]) => steps.find((each) => each[0] === name));
    const known = before.filter((each) => each && !above.includes(each));
    return known.length ? 1 + Math.max(...known.map((each) => layerOf(each, steps, [...above, step]))) : 0;
  };

  const box = ([name, count, gpus, requests, after, images], layer) => {
    const item = make("li", { name: "step" });
    item.style.setProperty("--layer", layer + 1);
    item.append(make("h4", { text: name }));
    item.append(make("p", { text: counted(count, "pod") + (gpus ? ` × ${counted(gpus, "GPU")}` : "") }));
    item.append(pods(count, gpus));
    if (count > MOST_PODS) item.append(make("p", { name: "muted", text: `and ${counted(count - MOST_PODS, "more pod")}` }));
    if (requests.length) item.append(make("p", { name: "muted", text: requests.map((each) => each.join(" ")).join(", ") + (count === 1 ? "" : " each") }));
    for (const [step, status] of after) item.append(make("p", { name: "muted", text: `after ${step} is ${status}` }));
    for (const image of images) item.append(make("p", { name: "muted", text: image }));
    return item;
  };

  const connect = (edges, from, to) => {
    const beside = to.offsetLeft > from.offsetLeft + from.offsetWidth;
    const start = beside ? [from.offsetLeft + from.offsetWidth, from.offsetTop + from.offsetHeight / 2]
      : [from.offsetLeft + 24, from.offsetTop + from.offsetHeight];
    const end = beside ? [to.offsetLeft - 2, to.offsetTop + to.offsetHeight / 2] : [to.offsetLeft + 24, to.offsetTop - 2];
    const bend = beside ? (end[0] - start[0]) / 2 : (end[1] - start[1]) / 2;
    const [x, y] = end;
    const back = beside ? [x - 6, y] : [x, y - 6];
    const way = beside ? `C${start[0] + bend},${start[1]} ${x - bend},${y} ${back}` : `C${start[0]},${start[1] + bend} ${x},${y - bend} ${back}`;
    edges.append(draw("path", { d: `M${start} ${way}` }));
    const head = beside ? `M${x},${y} l-8,-4 v8z` : `M${x},${y} l-4,-8 h8z`;
    edges.append(draw("path", { class: "head", d: head }));
  };

  const pictureOf = (steps) => {
    const placed = steps.map((step) => [step, layerOf(step, steps)]);
    const boxes = new Map(placed.map(([step, layer]) => [step[0], box(step, layer)]));
    const flow = make("ol", { name: "flow" });
    flow.append(...placed.sort((one, other) => one[1] - other[1]).map(([step]) => boxes.get(step[0])));
    const edges = draw("svg", { class: "edges", width: "100%", height: "100%", "aria-hidden": "true" });
    const picture = make("div", { name: "picture" }, edges, flow);
    const redraw = () => {
      edges.replaceChildren();
      for (const step of steps) for (const [name] of step[4]) if (boxes.has(name)) connect(edges, boxes.get(name), boxes.get(step[0]));
    };
    new ResizeObserver(redraw).observe(flow);
    return picture;
  };

  const start = () => {
    const { jobs, steps, texts, sweeps } = JSON.parse(byId("data").textContent);
    const table = byId("table"), body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
    const columns = Object.fromEntries(heads.map((head, column) => [head.dataset.filter, column]));
    const rows = [...body.rows].map((row, index) => ({ row, index, cells: [...row.cells].map((cell) => cell.textContent) }));
    for (const sweep of sweeps) for (const index of sweep[1]) rows[index].sweep = sweep;
    for (const each of rows) {
      const [shape, runtime] = jobs[each.index];
      const images = steps[shape].flatMap((step) => step[5]);
      each.text = [each.cells[0], ...each.cells.slice(1, 4), texts[runtime], each.sweep?.[0], ...images].join("\n").toLowerCase();
    }
    const filters = COLUMNS.filter((name) => byId(name));
    const controls = Object.fromEntries(["q", ...filters].map((name) => [name, byId(name)]));
    // What is chosen are jobs, what is shown are entries: a job, or the chosen jobs of one sweep.
    let chosen = rows, entries = rows, shown = 0, sorted = [0, 1];

    for (const name of filters) {
      const values = [...new Set(rows.map((each) => each.cells[columns[name]]))].filter(Boolean).sort();
      controls[name].append(...values.map((value) => make("option", { text: value, value })));
      controls[name].parentElement.hidden = values.length < 2;
      if (name === "change") {
        controls[name].parentElement.hidden = !values.length;
        table.classList.toggle("changed", values.length > 0);
      }
    }

    // Numbers add up, of costs the ends of their ranges; of other values each is there once.
    const amounts = (text) => text.replace(/[,<]/g, "").split("–").map((each) => parseFloat(each) || 0);
    const sum = (values) => {
      const ends = values.map(amounts);
      const [low, high] = [0, -1].map((end) => ends.reduce((all, each) => all + each.at(end), 0));
      const currency = values.find(Boolean)?.match(/[A-Z]+$/)?.[0];
      if (!currency) return low ? String(low) : values[0];
      const told = [low, high].map((each) => each.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 }));
      return `${[...new Set(told)].join("–")} ${currency}`;
    };
    const all = (values) => {
      const different = [...new Set(values)].filter(Boolean);
      return different.length > 3 ? `${different.length} values` : different.join(", ");
    };
    const entryOf = (sweep, jobs) => {
      const cells = jobs[0].cells.map((_, column) => {
        const values = jobs.map((each) => each.cells[column]);
        return !column ? values[0] : heads[column].classList.contains("n") ? sum(values) : all(values);
      });
      return { sweep, jobs, cells, index: jobs[0].index };
    };
    const gathered = (found) => {
      const by = new Map();
      for (const each of found) {
        const key = each.sweep || each;
        if (by.has(key)) by.get(key).push(each); else by.set(key, [each]);
      }
      return [...by].map(([key, members]) => members.length > 1 ? entryOf(key, members) : members[0]);
    };

    const detailOf = ({ row, index, cells, sweep }) => {
      const [shape, runtime, reason, cost, notes] = jobs[index];
      const kueue = cells[columns.kueue];
      const list = make("dl");
      const tell = (term, ...values) => { if (values[0]) list.append(make("dt", { text: term }), ...values.map((value) => make("dd", { text: value }))); };
      tell("Environment", cells[1]);
      tell("Queue", cells[2]);
      tell("Runtime", texts[runtime] && `${texts[runtime]} (${cells[3]})`);
      tell("Kueue", kueue && kueue + (texts[reason] ? `: ${texts[reason]}` : ""));
      tell("Cost", texts[cost]);
      tell("State", cells[columns.state]);
      for (const note of notes) tell("Note", texts[note]);
      tell("Change", cells[columns.change]);
      tell("Cluster", cells[columns.live]);
      tell("Template", sweep?.[0]);
      const cell = make("td", { colspan: heads.length }, list);
      if (steps[shape].length) cell.append(pictureOf(steps[shape]), make("p", { name: "key muted", text: "A box is a pod, a dot in it a GPU; an arrow leads to what waits." }));
      return make("tr", { name: "detail" }, cell);
    };

    const toggle = (each, button) => {
      const open = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!open));
      if (each.jobs) {
        if (open) each.jobs.forEach(undress); else each.row.after(...each.jobs.map((job) => dress(job, true)));
      } else if (open) each.row.nextElementSibling.remove(); else each.row.after(detailOf(each));
    };
    const undress = ({ row }) => {
      if (row.nextElementSibling?.className === "detail") row.nextElementSibling.remove();
      row.remove();
    };

    // The row of a sweep is its first job's, with what differs.
    const rowOf = ({ jobs, cells }) => {
      const row = jobs[0].row.cloneNode(true);
      row.className = "sweep";
      [...row.cells].forEach((cell, column) => { if (cell.textContent !== cells[column]) cell.replaceChildren(cells[column]); });
      row.cells[0].replaceChildren();
      return row;
    };
    const titleOf = ({ jobs, cells, sweep }) => {
      if (!jobs) return cells[0];
      const of = jobs.length < sweep[1].length ? ` of ${sweep[1].length.toLocaleString("en")}` : "";
      return `${sweep[0]} · ${jobs.length.toLocaleString("en")}${of} jobs`;
    };
    const dress = (each, inside) => {
      each.row ||= rowOf(each);
      if (!each.jobs) each.row.classList.toggle("inside", inside);
      const head = each.row.cells[0];
      if (head.firstElementChild) head.firstElementChild.setAttribute("aria-expanded", "false");
      else {
        const button = make("button", { type: "button", text: titleOf(each), "aria-expanded": "false" });
        button.addEventListener("click", () => toggle(each, button));
        head.replaceChildren(button);
      }
      return each.row;
    };

    const tellCount = () => {
      const told = entries.slice(0, shown).reduce((count, each) => count + (each.jobs?.length || 1), 0);
      const all = chosen.length === rows.length ? "" : ` (of ${rows.length.toLocaleString("en")})`;
      const part = told < chosen.length ? `, the first ${told.toLocaleString("en")} shown` : "";
      byId("count").textContent = chosen.length ? counted(chosen.length, "job") + all + part : `No job matches${all}`;
      byId("more").hidden = shown >= entries.length;
    };
    const showMore = () => {
      body.append(...entries.slice(shown, shown + PAGE).map((each) => dress(each, false)));
      shown = Math.min(shown + PAGE, entries.length);
      tellCount();
    };
    const number = (each, column) => amounts(each.cells[column])[0];
    const order = ([column, way]) => (one, other) => {
      const by = heads[column].classList.contains("n") ? number(one, column) - number(other, column)
        : one.cells[column] < other.cells[column] ? -1 : one.cells[column] > other.cells[column] ? 1 : 0;
      return way * by || one.index - other.index;
    };
    const wanted = () => Object.entries(controls).filter(([, control]) => control.value).map(([name, control]) => [name, control.value]);
    const apply = () => {
      const words = controls.q.value.toLowerCase().split(/\s+/).filter(Boolean);
      const exact = wanted().filter(([name]) => name !== "q").map(([name, value]) => [columns[name], value]);
      chosen = rows.filter((each) => words.every((word) => each.text.includes(word)) && exact.every(([column, value]) => each.cells[column] === value));
      chosen.sort(order(sorted));
      entries = gathered(chosen).sort(order(sorted));
      body.replaceChildren();
      shown = 0;
      showMore();
    };

    // Filters stand in the address, so that a link can hold them.
    const remember = () => { try { history.replaceState(null, "", `#${new URLSearchParams(wanted()) || "jobs"}`); } catch { /* in a sandbox */ } };
    const recall = () => {
      const given = location.hash.slice(1);
      if (!given.includes("=")) return false;
      const values = new URLSearchParams(given);
      for (const [name, control] of Object.entries(controls)) control.value = values.get(name) || "";
      return true;
    };

    heads.forEach((head, column) => {
      const button = make("button", { type: "button", text: head.textContent });
      button.addEventListener("click", () => {
        const first = head.classList.contains("n") ? -1 : 1;
        sorted = [column, sorted[0] === column ? -sorted[1] : first];
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", sorted[1] === 1 ? "ascending" : "descending");
        apply();
      });
      head.replaceChildren(button);
    });
    heads[0].setAttribute("aria-sort", "ascending");

    const form = byId("filter");
    form.addEventListener("input", () => { apply(); remember(); });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(() => { apply(); remember(); }));
    byId("more").addEventListener("click", () => {
      const next = entries[shown];
      showMore();
      next.row.cells[0].firstElementChild.focus();
    });
    addEventListener("hashchange", () => { if (recall()) { apply(); byId("jobs").focus(); byId("jobs").scrollIntoView(); } });
    byId("theme").value = stored.get();
    byId("theme").addEventListener("input", (event) => { setTheme(event.target.value); stored.set(event.target.value); });

    const linked = recall();
    apply();
    table.classList.add("ready");
    if (linked) byId("jobs").scrollIntoView();
  };
  document.addEventListener("DOMContentLoaded", start);
})();
