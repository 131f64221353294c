/* What a page gains by a script: keys, a theme, filters without a reload, a run that goes on.
   Everything works without it. Markup comes from the server alone, which escapes all text. */
"use strict";

const $ = (selector, at = document) => at.querySelector(selector);
const all = (selector, at = document) => [...at.querySelectorAll(selector)];
const root = document.documentElement;

/* Before the first paint, or a dark page would flash. */
try {
  const kept = localStorage.getItem("gem-theme");
  if (kept && !root.dataset.theme) root.dataset.theme = kept;
} catch { /* a file may have no storage */ }
root.classList.add("scripted");

document.addEventListener("DOMContentLoaded", () => {
  themes();
  const kind = document.body.className;
  const acts = ({
    run: runPage, episode: episodePage, compare: comparePage, tokens: globalThis.tokensPage, training: globalThis.trainingPage,
    beside: () => ({ s: follow("#only"), u: follow("#up") }),
  }[kind] ?? listKeys)();
  keys({ t: follow("#to-tokens"), ...acts });
  $("#to-tokens")?.addEventListener("click", followTurn);
  document.addEventListener("click", event => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
  });
});

function say(text) { $("#said").textContent = text; }

function copy(button) {
  navigator.clipboard?.writeText(button.dataset.copy).then(() => say("Copied"), () => say("Not copied"));
}

function themes() {
  const button = $("#theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  const show = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("gem-theme", root.dataset.theme); } catch { /* as above */ }
    show();
  });
  system.addEventListener("change", show);
  show();
}

/* One map of keys a page: none acts in a field, with a modifier, or behind a dialog. */
function keys(acts) {
  const dialog = $("#keys");
  $("#help").addEventListener("click", () => dialog.showModal());
  $("#keys-close").addEventListener("click", () => dialog.close());
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    const field = event.target.closest("input:not([type=checkbox]):not([type=radio]), select, textarea");
    if (field) {
      if (event.key === "Escape") field.blur();
      return;
    }
    const act = event.key === "?" ? () => dialog.showModal() : acts[event.key];
    if (act && act(event) !== false) event.preventDefault();
  });
}

/* Rows of a list: one is selected, and Enter opens it. */
function listKeys() {
  let at = -1;
  const rows = () => all("#list tr.row");
  const show = found => {
    for (const [number, row] of found.entries()) {
      if (number === at) row.setAttribute("aria-selected", "true");
      else row.removeAttribute("aria-selected");
    }
  };
  const select = place => {
    const found = rows();
    if (!found.length) return;
    at = Math.min(Math.max(place, 0), found.length - 1);
    show(found);
    const row = found[at];
    $("a", row).focus({ preventScroll: true });
    const box = row.getBoundingClientRect();
    if (box.top < 200 || box.bottom > innerHeight - 20) row.scrollIntoView({ block: "center" });
  };
  document.addEventListener("click", event => {
    const row = event.target.closest("#list tr.row");
    if (row && !event.target.closest("a, label")) select(rows().indexOf(row));
  });
  const open = event => {
    if (event.target.closest("a, button, summary, input")) return false;
    const link = at >= 0 && $("a", rows()[at]);
    return link ? link.click() : false;
  };
  const mark = () => { const box = at >= 0 && $("input[name=mark]", rows()[at]); return box ? box.click() : false; };
  const marks = marking();
  return {
    j: () => select(at + 1), k: () => select(at - 1), Enter: open, x: mark,
    selected: () => at >= 0 ? $("a", rows()[at]) : null,
    /* After the rows were written again: the one that was selected stays so, if it is still there. */
    renew: link => {
      const found = rows();
      at = link ? found.findIndex(row => $("a", row).pathname === link.pathname) : -1;
      show(found);
      marks.show();
    },
  };
}

/* Episodes that are marked, of any page of any list; the second opens both side by side. */
function marking() {
  const name = "gem-marks";
  const kept = () => JSON.parse(sessionStorage.getItem(name) ?? "[]");
  const boxes = () => all("input[name=mark]");
  const show = () => { const marked = kept(); for (const box of boxes()) box.checked = marked.includes(box.value); };
  if (!$("#marks")) return { show() {} };
  document.addEventListener("change", event => {
    const box = event.target;
    if (box.name !== "mark") return;
    const marked = kept().filter(value => value !== box.value);
    if (box.checked) marked.push(box.value);
    sessionStorage.setItem(name, JSON.stringify(marked));
    if (marked.length === 2) both(marked);
    else say(marked.length ? "Marked. Mark another to see both side by side." : "No longer marked.");
  });
  function both([a, b]) {
    sessionStorage.removeItem(name);
    location.assign(`/side-by-side?${new URLSearchParams({ a, b })}`);
  }
  $("#marks").addEventListener("submit", event => {
    event.preventDefault();
    say("Mark two episodes of the list, each by its box or x.");
    boxes()[0]?.focus();
  });
  /* Whoever comes back by the browser finds the page as it was left, and the marks gone. */
  addEventListener("pageshow", show);
  show();
  return { show };
}

/* The link to the tokens leads to the turn that is shown, as far as the address has come. */
function followTurn(event) {
  const turn = /^#t(\d+)$/.exec(location.hash)?.[1];
  if (!turn) return;
  const address = new URL(event.currentTarget.href);
  address.searchParams.set("turn", turn);
  event.currentTarget.href = address.href;
}

/* Milliseconds between two looks at what goes on, and at what does not. The second never ends: an
   episode of a slow model takes longer than a run has to be quiet to seem stopped, and a run that is
   over may be resumed or made longer. */
const LOOK_AGAIN = { growing: 1000, quiet: 5000 };

function follow(selector) {
  return () => { const link = $(selector); return link ? link.click() : false; };
}

/* The page of a run */

const MOST_FAILURES = 5; /* of a search in a row: half a minute with the waits between them */

function runPage() {
  const rows = listKeys();
  const live = following(address => load(address, "list", { keep: true }));
  const form = $("#facets");
  if (!form) return rows;
  let wait = 0;
  let asked = 0;
  let failures = 0; /* requests in a row that got no page */

  /* Fetch a page, take over its parts of one kind, and say whether that was done: an answer that
     comes late is dropped. */
  async function load(address, kind, { keep = false } = {}) {
    const number = ++asked;
    const url = new URL(address, location.href);
    const shown = new URL(url);
    if (live.upto() && !url.searchParams.has("upto")) url.searchParams.set("upto", live.upto());
    const text = await textOf(url);
    if (number !== asked) return false;
    if (text === null) {
      failures += 1;
      searchOn(number);
      return false;
    }
    failures = 0;
    const selected = rows.selected();
    take(text, kind);
    rows.renew(selected);
    shown.hash = "";
    if (!keep) history.pushState(null, "", shown);
    searchOn(number);
    return true;
  }

  /* A search that is not through goes on with every page that asks for it. After a request that
     failed it waits twice as long, and after a few in a row it ends and says so. */
  function searchOn(number) {
    const note = $("#searching");
    if (!note) return;
    if (failures > MOST_FAILURES) {
      note.textContent = "The search has stopped: the viewer does not answer. Reload the page to go on.";
      return;
    }
    const goOn = () => { if (number === asked) load(location.href, "list", { keep: true }); };
    setTimeout(goOn, 300 * 2 ** failures);
  }
  searchOn(asked);

  function fromForm() {
    const pairs = [...new FormData(form)].filter(([, value]) => value !== "");
    return `?${new URLSearchParams(pairs)}`;
  }

  /* Whoever asks for a list by anything but a field wants that list: what was typed just before
     waits no longer, or it would take the place of it. */
  const send = () => { clearTimeout(wait); load(fromForm(), "list"); };
  form.addEventListener("submit", event => { event.preventDefault(); send(); });
  document.addEventListener("input", event => {
    if (event.target.form !== form) return;
    clearTimeout(wait);
    wait = setTimeout(send, event.target.type === "checkbox" ? 0 : 200);
  });
  document.addEventListener("click", event => {
    const link = event.target.closest("a[data-list]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    clearTimeout(wait);
    load(link.href, "list").then(isTaken => {
      if (isTaken) readFields();
      if (link.closest(".pager")) $("#episodes").scrollIntoView();
    });
  });
  addEventListener("popstate", () => {
    clearTimeout(wait);
    load(location.href, "list", { keep: true }).then(isTaken => { if (isTaken) readFields(); });
  });

  /* Fields outside of what was taken over follow the address. */
  function readFields() {
    const query = new URLSearchParams(location.search);
    for (const field of form.elements) {
      if (field.name && field.type !== "checkbox" && field !== document.activeElement) field.value = query.get(field.name) ?? "";
    }
  }

  if (location.hash === "#q") $("#q").focus();
  return {
    ...rows,
    "/": () => { $("#episodes").scrollIntoView(); $("#q").focus({ preventScroll: true }); $("#q").select(); },
    c: follow("#clear"), "[": follow("#previous"), "]": follow("#next"), r: follow("#fresh"),
  };
}

/* The text of a page; null where the server gives none. */
async function textOf(url) {
  try {
    const answer = await fetch(url);
    return answer.ok ? await answer.text() : null;
  } catch {
    return null;
  }
}

/* Put the parts of a page that came from the server in the place of those that are shown. */
function take(text, kind) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const focused = document.activeElement;
  for (const part of all(`[data-part="${kind}"]`)) {
    const other = page.getElementById(part.id);
    if (other) part.replaceWith(document.adoptNode(other));
  }
  if (document.activeElement === document.body) successor(focused)?.focus({ preventScroll: true });
  return page;
}

/* What stands on the page now for an element that was replaced: by its id, the episode that its box
   marks, or where it leads. */
function successor(element) {
  if (element.id) return document.getElementById(element.id);
  if (element.name === "mark") return all("input[name=mark]").find(box => box.value === element.value);
  /* The address of a row has the filters, too, and how far the run had come; its path has neither. */
  if (element.closest("tr.row")) return all("#list tr.row a").find(link => link.pathname === element.pathname);
  return all("a[data-list]").find(link => link.href === element.href);
}

/* A run that goes on: figures change in place, new rows wait until they are asked for. */
function following(show) {
  const body = document.body;
  let line = Number(body.dataset.line);
  let newest = line;
  let said = 0;
  const looks = () => body.hasAttribute("data-looks");
  const goesOn = () => body.dataset.state === "running" || body.dataset.state === "reading";
  const again = () => setTimeout(look, goesOn() || looks() ? LOOK_AGAIN.growing : LOOK_AGAIN.quiet);
  /* Figures come later than the episodes that they are of: the last ones when a run has ended. */
  const versionOf = known => `${known.state} ${known.line} ${known.figures}`;
  let version = versionOf(body.dataset);
  const button = $("#fresh");

  async function look() {
    const known = await fetch(body.dataset.live).then(answer => answer.json()).catch(() => null);
    if (known) {
      /* Its log was replaced: each row, and what a box marks, is of an episode that is gone. */
      if (known.edition !== body.dataset.edition) { location.reload(); return; }
      newest = known.line;
      if (versionOf(known) !== version) {
        const text = await textOf(location.href);
        if (text !== null) {
          body.dataset.state = known.state;
          version = versionOf(known);
          take(text, "live");
          take(text, "figures");
        }
      }
      const areDone = looks() && known.finders.are_done;
      body.toggleAttribute("data-looks", !known.finders.are_done);
      $("#looking").replaceChildren(known.finders.text);
      if (areDone) {
        const answer = await fetch(location.href).catch(() => null);
        if (answer?.ok) take(await answer.text(), "finders");
      }
      const count = newest - line;
      $("#fresh-line").hidden = count <= 0;
      button.replaceChildren(`Show ${count} new ${count === 1 ? "episode" : "episodes"} `, Object.assign(document.createElement("kbd"), { textContent: "r" }));
      if (goesOn() && Date.now() - said > 10000) { said = Date.now(); say(known.text); }
    }
    again();
  }

  button?.addEventListener("click", () => {
    line = newest;
    $("#fresh-line").hidden = true;
    /* A link that was followed while they waited has how far the list went then. */
    const address = new URL(location.href);
    address.searchParams.delete("upto");
    history.replaceState(null, "", address);
    show(address);
  });
  if (body.dataset.live) again();
  return { upto: () => newest > line ? line : 0 };
}

/* The page that compares: the flips before and after the one that is shown */

function comparePage() {
  const links = all("#pick a");
  const at = links.findIndex(link => link.hasAttribute("aria-current"));
  links[at]?.scrollIntoView({ block: "nearest" });
  const go = step => () => { const link = links[at + step]; return link ? link.click() : false; };
  return { j: go(1), k: go(-1), s: follow("#only") };
}

/* The command that plays on from the current turn: shown, and copied by who wants it */

function branching(asked) {
  const section = $("#branch");
  if (!section) return { show() {}, enter: () => false };
  const policy = $("#branch-policy");
  const button = $("[data-copy]", section);
  let turn = asked;
  function show(number) {
    turn = Math.min(number, Number(section.dataset.last));
    const command = `${section.dataset.before} ${turn} --policy ${policy.value}`;
    $("#branch-turn").textContent = turn;
    $("code", section).textContent = command;
    button.dataset.copy = command;
  }
  policy.addEventListener("change", () => show(turn));
  return { show, enter: () => { section.scrollIntoView({ block: "nearest" }); button.focus(); } };
}

/* The page of an episode */

function episodePage() {
  const turns = () => all(".turn[data-turn]");
  if (!turns().length) return { n: follow("#next"), p: follow("#previous"), u: follow("#up"), s: follow("#next-seat") };
  /* Not one after the other where only what one seat saw is shown. */
  const numbers = turns().map(article => Number(article.dataset.turn));
  const first = numbers[0];
  const last = numbers.at(-1);
  const shown = number => numbers.find(each => each >= number) ?? last;
  const asked = Number(/^#t(\d+)$/.exec(location.hash)?.[1] ?? $(".turn[aria-current]")?.dataset.turn ?? first);
  let turn = first;
  const branch = branching(asked);
  document.addEventListener("click", event => {
    /* The view of another seat stays at the turn that is looked at now. */
    const link = event.target.closest(".switch a");
    if (!link) return;
    const address = new URL(link.href);
    address.searchParams.set("turn", turn);
    address.hash = `t${turn}`;
    link.href = address;
  });

  function go(number, scrolls = true) {
    if (number < first) return follow("#earlier")();
    if (number > last) return follow("#later")();
    turn = shown(number);
    for (const article of turns()) {
      if (Number(article.dataset.turn) === turn) article.setAttribute("aria-current", "step");
      else article.removeAttribute("aria-current");
    }
    for (const row of all("#moves tr.row")) {
      const isIt = Number(row.dataset.turn) === turn;
      if (isIt) row.setAttribute("aria-selected", "true");
      else row.removeAttribute("aria-selected");
      if (isIt) keepInView(row, row.closest(".scroll"));
    }
    const track = $("#track");
    $("#now")?.setAttribute("x", Number(track.dataset.left) + (turn - 1) * Number(track.dataset.step));
    branch.show(turn);
    if (scrolls) $(`#t${turn}`).scrollIntoView({ block: "start" });
    const address = new URL(location.href);
    if (address.searchParams.has("turn") || first > 1) address.searchParams.set("turn", turn);
    address.hash = `t${turn}`;
    history.replaceState(null, "", address);
    return true;
  }

  function keepInView(row, box) {
    const top = row.offsetTop;
    if (top < box.scrollTop + 28 || top > box.scrollTop + box.clientHeight - 28) box.scrollTop = top - box.clientHeight / 2;
  }

  document.addEventListener("click", event => {
    const row = event.target.closest("#moves tr.row");
    if (row) { event.preventDefault(); go(Number(row.dataset.turn)); return; }
    const article = event.target.closest(".turn[data-turn]");
    if (article && !event.target.closest("summary, a, button")) go(Number(article.dataset.turn), false);
  });
  $("#track")?.addEventListener("click", event => {
    const track = event.currentTarget;
    const box = track.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * 400;
    const number = Math.floor((x - Number(track.dataset.left)) / Number(track.dataset.step)) + 1;
    const wanted = Math.min(Math.max(number, 1), Number(track.dataset.turns));
    if (wanted >= first && wanted <= last) { go(wanted); return; }
    const address = new URL(location.href);
    address.searchParams.set("turn", wanted);
    address.hash = `t${wanted}`;
    location.assign(address);
  });
  addEventListener("hashchange", () => {
    const number = Number(/^#t(\d+)$/.exec(location.hash)?.[1]);
    if (number >= first && number <= last) go(number, false);
  });
  go(shown(asked), asked > first);

  const fold = () => {
    const folds = all(".talk details");
    const opens = folds.some(each => !each.open);
    folds.forEach(each => { each.open = opens; });
  };
  return {
    j: () => go(turn + 1), k: () => go(numbers[numbers.indexOf(turn) - 1] ?? first - 1), s: follow("#next-seat"), n: follow("#next"), p: follow("#previous"), u: follow("#up"), e: fold, b: branch.enter, f: follow("#flip"),
    "/": () => { location.href = `${document.body.dataset.run}#q`; },
  };
}
