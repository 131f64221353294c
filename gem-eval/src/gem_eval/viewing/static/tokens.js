/* The keys and the details of the token page. viewer.js calls it, and has what it shares. */
"use strict";

function tokensPage() {
  const box = $("#tokens");
  const tokens = all(".tk", box);
  const sections = all(".tturn", box);
  const known = new Map(tokens.map((token, number) => [token.id, number]));
  const outliers = all("#outliers a").map(link => known.get(link.hash.slice(1))).sort((a, b) => a - b);
  const isShown = token => !box.classList.contains("only") || !token.classList.contains("off");
  let at = -1;

  /* What the title of a token says, as a list: every part is a name and a value. */
  function detail(token) {
    const rows = [["text", token.textContent], ["turn", token.closest(".tturn").dataset.turn]];
    for (const part of token.title.split(" · ")) rows.push([part.slice(0, part.indexOf(" ")), part.slice(part.indexOf(" ") + 1)]);
    const list = $("#detail");
    list.replaceChildren(...rows.flatMap(row => row.map((text, column) => {
      const cell = document.createElement(column ? "dd" : "dt");
      cell.textContent = text;
      return cell;
    })));
  }

  function go(number, scrolls = true) {
    const token = tokens[number];
    if (!token) return false;
    const before = tokens[at];
    before?.classList.remove("at");
    before?.removeAttribute("aria-current");
    at = number;
    token.classList.add("at");
    token.setAttribute("aria-current", "true");
    detail(token);
    say(`${token.textContent}, ${token.title}`);
    const turn = token.closest(".tturn").dataset.turn;
    for (const row of all("#by-turn tr.row")) {
      if ($("a", row).hash === `#t${turn}`) row.setAttribute("aria-selected", "true");
      else row.removeAttribute("aria-selected");
    }
    if (scrolls) bring(token, 8);
    keep(turn, token.id);
    return true;
  }

  /* Scroll to a token. Blocks on the way are drawn only then, and may be taller than was thought:
     it is looked after for a few frames. */
  function bring(token, frames) {
    if (tokens[at] !== token) return;
    const place = token.getBoundingClientRect();
    if (place.top < $("#head").getBoundingClientRect().bottom + 8 || place.bottom > innerHeight - 40) token.scrollIntoView({ block: "center" });
    if (frames) requestAnimationFrame(() => bring(token, frames - 1));
  }

  /* The address, and the links that lead away, keep the turn and the token. */
  function keep(turn, id) {
    const address = new URL(location.href);
    address.searchParams.set("turn", turn);
    address.hash = id;
    history.replaceState(null, "", address);
    for (const link of all("#colourings a")) {
      const target = new URL(link.href);
      target.searchParams.set("turn", turn);
      target.hash = id;
      link.href = target.href;
    }
    const talk = new URL($("#conversation").href);
    talk.searchParams.set("turn", turn);
    talk.hash = `t${turn}`;
    $("#conversation").href = talk.href;
  }

  function step(by, isWanted = isShown) {
    for (let number = at + by; number >= 0 && number < tokens.length; number += by) {
      if (isWanted(tokens[number])) return go(number);
    }
    return true;
  }

  function turn(by) {
    const now = at < 0 ? -1 : sections.indexOf(tokens[at].closest(".tturn"));
    for (let number = now + by; number >= 0 && number < sections.length; number += by) {
      const first = $(".tk:not(.off)", sections[number]) ?? $(".tk", sections[number]);
      if (first) return go(known.get(first.id));
    }
    return follow(by > 0 ? "#later" : "#earlier")();
  }

  /* At the first turn nothing is chosen, so that the page begins with what the model was given. */
  function start(number) {
    if (number > 0) go(known.get(($(".tk:not(.off)", sections[number]) ?? $(".tk", sections[number]))?.id));
  }

  function outlier(by) {
    const found = by > 0 ? outliers.find(number => number > at) : outliers.findLast(number => number < at);
    return found === undefined ? true : go(found);
  }

  function only() {
    const isOnly = box.classList.toggle("only");
    const address = new URL(location.href);
    if (isOnly) address.searchParams.set("only", "1");
    else address.searchParams.delete("only");
    history.replaceState(null, "", address);
    for (const link of all("#colourings a")) {
      const target = new URL(link.href);
      if (isOnly) target.searchParams.set("only", "1");
      else target.searchParams.delete("only");
      link.href = target.href;
    }
    $("#only").firstChild.data = isOnly ? "All tokens " : "Only what the model said ";
    say(isOnly ? "Only what the model said" : "All tokens");
    if (at >= 0 && !isShown(tokens[at])) step(1);
    return true;
  }

  box.addEventListener("click", event => {
    const token = event.target.closest(".tk");
    if (token) go(known.get(token.id), false);
  });
  box.addEventListener("mouseover", event => {
    const token = event.target.closest(".tk");
    if (token) detail(token);
  });
  box.addEventListener("mouseleave", () => { if (at >= 0) detail(tokens[at]); });
  $("#only").addEventListener("click", event => { event.preventDefault(); only(); });
  $("#bars")?.addEventListener("click", event => {
    const said = tokens.filter(token => !token.classList.contains("off"));
    const place = event.currentTarget.getBoundingClientRect();
    const number = Math.floor((event.clientX - place.left) / place.width * said.length);
    const token = said[Math.min(Math.max(number, 0), said.length - 1)];
    if (token) go(known.get(token.id));
  });
  document.addEventListener("click", event => {
    const link = event.target.closest("#outliers a");
    if (link) { event.preventDefault(); go(known.get(link.hash.slice(1))); }
  });

  addEventListener("hashchange", () => {
    const number = known.get(location.hash.slice(1));
    if (number !== undefined) go(number);
  });

  const asked = known.get(location.hash.slice(1));
  const wanted = new URLSearchParams(location.search).get("turn");
  if (asked !== undefined) go(asked);
  else if (wanted && !location.hash) start(sections.findIndex(section => section.dataset.turn === wanted));

  const colour = number => follow(`#colourings a[data-by="${number}"]`);
  return {
    ArrowRight: () => step(1), ArrowLeft: () => step(-1), j: () => turn(1), k: () => turn(-1),
    "]": () => outlier(1), "[": () => outlier(-1), o: only, t: follow("#conversation"), u: follow("#up"),
    1: colour(1), 2: colour(2), 3: colour(3), 4: colour(4), 5: colour(5),
    "/": () => { location.href = `${$("#up").pathname}#q`; },
  };
}
