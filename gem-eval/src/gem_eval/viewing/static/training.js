/* What pages of trainings gain by a script: a cursor over all plots, and curves that grow. */
"use strict";

globalThis.trainingPage = () => {
  const form = $("#choice");
  const plots = () => all(".curve svg[data-points]");
  const left = Number($("#curves").dataset.left); /* the ends of every axis, in units of a plot */
  const right = Number($("#curves").dataset.right);
  let share = 1; /* where the cursor stands, from the left end of the axis to the right one */

  function number(value) {
    if (value === null) return "-";
    const size = Math.abs(value);
    if (size < 1e-12) return "0.000";
    if (size >= 1000) return Math.round(value).toLocaleString("en");
    const text = size > 0 && size < .001 ? value.toExponential(2) : value.toFixed(3);
    return text.replace("-", "\u2212");
  }

  /* The place of a plot that is nearest to the cursor. */
  function nearest(places) {
    const wanted = left + share * (right - left);
    let best = 0;
    for (const [at, place] of places.entries()) if (Math.abs(place - wanted) < Math.abs(places[best] - wanted)) best = at;
    return best;
  }

  /* What is read at the end is as the server wrote it: there each arm has its last value. */
  const ends = new WeakMap();

  function show() {
    let said = "the end";
    let most = 0; /* the points of the plot that says where the cursor is: the one with the most */
    for (const svg of plots()) {
      const points = JSON.parse(svg.dataset.points);
      const line = $(".cursor", svg);
      if (!points.x.length) continue;
      const reads = all(".read", svg.closest("figure"));
      for (const read of reads) if (!ends.has(read)) ends.set(read, [...read.childNodes]);
      if (share === 1) {
        line.setAttribute("visibility", "hidden");
        for (const read of reads) read.replaceChildren(...ends.get(read));
        continue;
      }
      const at = nearest(points.x);
      line.setAttribute("visibility", "visible");
      for (const end of ["x1", "x2"]) line.setAttribute(end, points.x[at]);
      if (points.x.length > most) {
        most = points.x.length;
        said = points.at[at].toLocaleString("en", { maximumFractionDigits: 1 });
      }
      for (const [arm, [mean, low, high]] of points.arms.entries()) {
        const band = low[at] === null || (low[at] === mean[at] && high[at] === mean[at]) ? "" : ` [${number(low[at])}, ${number(high[at])}]`;
        reads[arm].replaceChildren(Object.assign(document.createElement("b"), { textContent: number(mean[at]) }), band);
      }
    }
    $("#now").textContent = said;
    $("#cursor").value = Math.round(1000 * share);
  }

  function go(to) {
    share = Math.min(Math.max(to, 0), 1);
    show();
    return true;
  }

  $("#scrub").hidden = !plots().length;
  $("#cursor").addEventListener("input", event => go(event.target.value / 1000));
  document.addEventListener("click", event => {
    const svg = event.target.closest(".curve svg[data-points]");
    if (svg) {
      const box = svg.getBoundingClientRect();
      const x = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
      go((x - left) / (right - left));
    } else if (!event.target.closest("#figure-choice")) $("#figure-choice").open = false;
  });
  $("#x").addEventListener("change", () => form.requestSubmit());
  if (plots().length) show();

  async function look() {
    const known = await fetch(document.body.dataset.live).then(answer => answer.json()).catch(() => null);
    if (known && known.version !== document.body.dataset.version) {
      const text = await textOf(location.href);
      if (text !== null) {
        document.body.dataset.version = known.version;
        document.body.dataset.state = known.state;
        for (const kind of ["live", "figures", "samples"]) take(text, kind);
        $("#scrub").hidden = !plots().length;
        if (plots().length) show();
      }
    }
    again();
  }
  const isGrowing = () => ["running", "reading"].includes(document.body.dataset.state);
  const again = () => setTimeout(look, isGrowing() ? LOOK_AGAIN.growing : LOOK_AGAIN.quiet);
  again();

  return {
    h: () => go(share - .02), l: () => go(share + .02),
    f: () => { const choice = $("#figure-choice"); choice.open = !choice.open; },
  };
};
