// What a reader sees and does. Foreign text becomes text nodes, and nothing else.

/** @param {string} id
 * @returns {any} */
const part = id => document.getElementById(id);
/** Files that are handed to the worker, at most; it refuses as many. */
const MOST_ENTRIES = 20_001;
/** Folders under one that was dropped in which files are read: a folder of artifacts has two. */
const DEEPEST = 2;

/** An element with attributes, and with texts or elements in it.
 *
 * @param {string} name
 * @param {Record<string, string>} [attributes]
 * @param {...(string | Node)} inner */
function element(name, attributes = {}, ...inner) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inner);
  return made;
}

/** @type {Worker | null} */
let worker = null;

/** A worker that runs the source that the page has in it, and answers to ``received``. */
function start() {
  const source = new Blob([part("work").textContent], {type: "text/javascript"});
  const address = URL.createObjectURL(source);
  worker = new Worker(address);
  URL.revokeObjectURL(address);
  worker.addEventListener("message", event => received(event.data));
  worker.addEventListener("error", event => {
    event.preventDefault();
    received({refused: "this browser ran out of means: check the artifact with srsql verify",
      question: !part("halt").hidden});
  });
}

/** @param {unknown} message */
function send(message) {
  if (!worker) start();
  /** @type {Worker} */ (worker).postMessage(message);
}

/** @param {string} words
 * @param {boolean} [busy] */
function tell(words, busy = false) {
  part("status").textContent = words;
  part("stop").hidden = !busy;
  part("main").setAttribute("aria-busy", String(busy));
}

/** What became of a question, beside the buttons that ask it.
 *
 * @param {string} words
 * @param {string[]} [wrong] Fields of the form; the first is shown.
 * @param {boolean} [busy] */
function reply(words, wrong = [], busy = false) {
  part("told").textContent = words;
  part("told").className = wrong.length ? "bad" : "";
  part("halt").hidden = !busy;
  part("main").setAttribute("aria-busy", String(busy));
  for (const each of part("fields").querySelectorAll("[data-field]")) {
    for (const name of ["aria-invalid", "aria-describedby"]) each.removeAttribute(name);
    if (!wrong.includes(each.dataset.field)) continue;
    each.setAttribute("aria-invalid", "true");
    each.setAttribute("aria-describedby", "told");
  }
  part("fields").querySelector("[aria-invalid]")?.focus({preventScroll: true});
  if (words) part("told").scrollIntoView({block: "nearest"});
}

/** @param {any} message Of the worker. */
function received({progress, opened, answered, compared, suggested, refused, question, fields}) {
  if (progress) return tell(`${progress} …`, true);
  if (suggested) return part("names").replaceChildren(
    ...suggested.map((/** @type {string} */ value) => element("option", {value})));
  if (refused && !question) return tell(refused);
  if (opened) return showVerified(opened);
  // an artifact is being opened in place of the one that was asked
  if (part("ask").hidden) return;
  if (refused) reply(refused, fields);
  if (answered) showAnswer(answered);
  if (compared) showRatio(compared);
}

/** @param {{path: string, file: Blob}[]} entries */
function check(entries) {
  for (const id of ["verdict", "ask", "answer"]) part(id).hidden = true;
  if (!entries.length) return tell("nothing was chosen: give the folder that srsql publish wrote");
  tell("reading the files …", true);
  send({open: entries});
}

/** The files of a folder that was picked.
 * @param {Event} event */
function picked(event) {
  const input = /** @type {HTMLInputElement} */ (event.target);
  const files = [...(input.files ?? [])].slice(0, MOST_ENTRIES);
  const entries = files.map(file => ({path: file.webkitRelativePath || file.name, file}));
  input.value = "";
  check(entries);
}

/** The files of what was dropped; folders deep in it are named and not read.
 * @param {DragEvent} event */
async function dropped(event) {
  event.preventDefault();
  part("drop").classList.remove("over");
  // all have to be asked for at once: what was dropped is gone after the first wait
  const items = [...(event.dataTransfer?.items ?? [])].filter(item => item.kind === "file");
  const read = items.slice(0, MOST_ENTRIES).map((/** @type {any} */ item) =>
    item.getAsFileSystemHandle ? filesOfHandle(item.getAsFileSystemHandle())
      : filesOfHandle(Promise.resolve(handleOf(item.webkitGetAsEntry()))));
  try {
    check((await Promise.all(read)).flat());
  } catch {
    tell("the folder cannot be read: choose it with the button");
  }
}

/** What a browser gives that lets pages from a disk read folders only so (Chromium).
 *
 * @param {Promise<any>} given */
async function filesOfHandle(given) {
  const handle = await given;
  if (handle.kind === "file") return [{path: handle.name, file: await handle.getFile()}];
  return filesWithin(handle.name, 1, async () => {
    const found = [];
    for await (const inner of handle.values()) found.push(inner);
    return found;
  });
}

/** The files of a folder, and of those in it.
 *
 * @param {string} path
 * @param {number} depth
 * @param {() => Promise<any[]>} list What is in the folder.
 * @returns {Promise<{path: string, file: Blob}[]>} */
async function filesWithin(path, depth, list) {
  const inner = depth > DEEPEST + 1 ? [] : await list(), found = [];
  for (const each of inner) {
    const name = `${path}/${each.name}`;
    if (each.kind === "file") found.push({path: name, file: await each.getFile()});
    else found.push(...await filesWithin(name, depth + 1, async () => {
      const more = [];
      for await (const one of each.values()) more.push(one);
      return more;
    }));
    if (found.length >= MOST_ENTRIES) break;
  }
  return found.length ? found : [{path: `${path}/`, file: new Blob()}];
}

/** What other browsers give, in the shape of the handles of Chromium.
 *
 * @param {any} entry
 * @returns {any} */
function handleOf(entry) {
  return {name: entry.name, kind: entry.isFile ? "file" : "directory",
    getFile: () => new Promise((done, failed) => entry.file(done, failed)),
    async* values() {
      const reader = entry.createReader();
      for (;;) {
        /** @type {any[]} */
        const more = await new Promise((done, failed) => reader.readEntries(done, failed));
        if (!more.length) return;
        for (const inner of more) yield handleOf(inner);
      }
    }};
}

/** @param {string[]} texts */
const listed = texts => texts.map(text => element("li", {}, text));

/** @param {any} found */
function showVerified(found) {
  const several = found.artifacts.length > 1;
  const failed = found.artifacts.filter((/** @type {any} */ each) => !each.passed).length;
  const whose = several ? "artifacts" : "artifact", are = several ? "are" : "is";
  const they = several ? "they promise" : "it promises";
  tell(found.passed ? `The ${whose} passed every check of this page.`
    : `FAILED: the ${whose} ${are} not what ${they}, or cannot be checked here.`);
  part("verdict").hidden = false;
  part("outcome").textContent = found.passed
    ? `passed: everything that this page checks holds${several ? `, of ${found.artifacts.length} artifacts `
      + "and of them together" : ""}`
    : several ? `FAILED: ${failed} of ${found.artifacts.length} artifacts, or what they show together; what `
      + "is wrong stands below" : "FAILED: do not rely on this artifact; what is wrong stands below";
  part("warnings").replaceChildren(...listed(found.warnings));
  part("unprotected").replaceChildren(...listed(found.unprotected));
  part("each").hidden = !several;
  part("artifacts").replaceChildren(...found.artifacts.map((/** @type {any} */ each) =>
    element("tr", each.passed ? {} : {class: "bad"}, element("th", {scope: "row"}, each.name),
      element("td", {}, each.quarters), element("td", {}, each.passed ? "yes" : "NO"))));
  part("outcome").className = found.passed ? "good" : "bad";
  part("facts").replaceChildren(...found.facts.flatMap((/** @type {[string, string]} */ [name, value]) =>
    [element("dt", {}, name), element("dd", {}, value)]));
  part("checks").replaceChildren(...found.checks.map((/** @type {any} */ check) => {
    const more = check.count > check.places.length ? [`and ${check.count - check.places.length} more`] : [];
    const places = element("ul", {}, ...listed([...check.places, ...more]));
    return element("tr", check.count ? {class: "bad"} : {},
      element("th", {scope: "row"}, placed(check)),
      element("td", {}, check.count ? "NO" : "yes"),
      element("td", {class: "number"}, check.total.toLocaleString("en")),
      element("td", {}, check.note ? `${check.proves} (${check.note})` : check.proves,
        ...(check.count ? [places] : [])));
  }), ...found.notRun.map((/** @type {string} */ name) => element("tr", {class: "bad"},
    element("th", {scope: "row"}, name), element("td", {}, "not run"), element("td", {}),
    element("td", {}, "because of what stands above, or since this page cannot read the rows"))));
  part("unseen").replaceChildren(...listed(found.notShown));
  part("ask").hidden = !found.asked;
  part("why").hidden = !found.why;
  part("why").textContent = found.why ? `No counts: ${found.why}.` : "";
  if (found.asked) showQuestions(found.asked);
}

/** A check with its folder and its quarter, where there are several.
 *
 * @param {any} check */
function placed({name, artifact, of}) {
  const where = [artifact, of].filter(Boolean).join(", ");
  return where ? `${name} (${where})` : name;
}

/** A labelled control.
 *
 * @param {string} words
 * @param {HTMLElement} control */
const labelled = (words, control) => element("label", {}, element("span", {}, words), control);

/** @param {string} field
 * @param {[string, string][]} options Values and words. */
function choice(field, options) {
  return element("select", {"data-field": field},
    ...options.map(([value, words]) => element("option", {value}, words)));
}

/** @param {any} asked */
function showQuestions(asked) {
  const fields = [];
  for (const {name, unit} of asked.numbers) {
    const of = unit ? `${name}, ${unit}` : name;
    for (const [end, words] of [["low", "from"], ["high", "to"]])
      fields.push(labelled(`${of}, ${words}`, element("input",
        {"data-field": `${end} ${name}`, inputmode: "decimal", size: "8", autocomplete: "off"})));
  }
  for (const {name, nodes} of asked.nodes)
    fields.push(labelled(name, choice(`node ${name}`,
      [["", "any"], ...nodes.map((/** @type {string} */ node) => [node, node])])));
  for (const {table, column} of asked.columns) {
    const input = element("input", {"data-field": `term ${table} ${column}`, list: "names",
      autocomplete: "off", maxlength: "1000"});
    const suggest = () => send({suggest: {table, column,
      typed: /** @type {HTMLInputElement} */ (input).value}});
    input.addEventListener("input", suggest);
    input.addEventListener("focus", suggest);
    fields.push(labelled(`${column} (${table})`, input));
  }
  if (asked.quarters.length > 1)
    fields.push(labelled("quarter", choice("quarter", [["", "all"],
      ...asked.quarters.map((/** @type {string} */ quarter) => [quarter, quarter])])));
  const groups = asked.columns.map((/** @type {any} */ each) =>
    [`${each.table} ${each.column}`, `${each.column} (${each.table})`]);
  fields.push(labelled("grouped by", choice("group", [["", "nothing"], ...groups,
    ["quarter", "quarter"]])));
  fields.push(labelled("groups shown (all of quarters)", element("input",
    {"data-field": "most", type: "number", min: "1", max: "1000", value: "10"})));
  const withheld = labelled("withheld cases count in upper",
    element("input", {"data-field": "withheld", type: "checkbox"}));
  withheld.className = "check";
  part("fields").replaceChildren(...fields, withheld);
  reply("");
}

/** Whether the form was edited after the last question was sent. */
let edited = false;

/** @param {Event} event */
function changed(event) {
  edited = true;
  part("stale").hidden = false;
  const field = /** @type {HTMLElement} */ (event.target);
  for (const name of ["aria-invalid", "aria-describedby"]) field.removeAttribute(name);
}

/** @param {SubmitEvent} event */
function asked(event) {
  event.preventDefault();
  const controls = [...part("fields").querySelectorAll("[data-field]")];
  /** @param {string} field */
  const value = field => controls.find(each => each.dataset.field === field)?.value ?? "";
  const split = controls.map(each => ({words: each.dataset.field.split(" "), value: each.value}));
  /** @param {string} kind */
  const filled = kind => split.filter(each => each.words[0] === kind && each.value.trim());
  const numbers = new Set([...filled("low"), ...filled("high")].map(each => each.words[1]));
  const [table, column] = value("group") === "quarter" ? ["", ""] : value("group").split(" ");
  edited = false;
  part("stale").hidden = false;
  reply("counting …", [], true);
  send({ask: {
    ranges: [...numbers].map(name => ({attribute: name, low: value(`low ${name}`),
      high: value(`high ${name}`)})),
    nodes: filled("node").map(({words, value: node}) => ({attribute: words[1], node})),
    terms: filled("term").map(({words, value: name}) =>
      ({table: words[1], column: words[2], value: name})),
    group: value("group") ? {table, column} : null,
    most: Math.max(1, Math.floor(Number(value("most")) || 10)),
    withheld: controls.some(each => each.dataset.field === "withheld" && each.checked),
    quarter: value("quarter"),
    ratio: event.submitter === part("compare"),
  }});
}

/** A number as a cell of a table; null: undefined.
 *
 * @param {number | null} value
 * @param {number} digits */
const number = (value, digits) => element("td", {class: "number"}, value === null ? "-"
  : value.toLocaleString("en", {minimumFractionDigits: digits, maximumFractionDigits: digits}));

/** What both kinds of answers have.
 * @param {any} found */
function showCommon(found) {
  reply(found.told);
  part("answer").hidden = false;
  part("stale").hidden = !edited;
  part("question").textContent = `Asked: ${found.asked}`;
  part("notes").replaceChildren(...listed(found.notes));
}

/** @param {any} found */
function showRatio(found) {
  showCommon(found);
  part("ordered").textContent = "Cases with the first name, the second, both and neither";
  part("same").hidden = true;
  part("ratio").hidden = false;
  part("counts").replaceChildren(...found.counts.map((/** @type {any} */ count) => element("tr", {},
    element("th", {scope: "row"}, count.key), number(count.lower, 0), number(count.known, 0),
    number(count.expected, 2), number(count.upper, 0))));
  part("ratios").replaceChildren(...found.ratios.map((/** @type {any} */ each) => element("tr", {},
    element("th", {scope: "row"}, each.name), number(each.ratio, 4), number(each.low, 4),
    number(each.high, 4))));
}

/** @param {any} found */
function showAnswer(found) {
  const groups = found.counts.some((/** @type {any} */ count) => count.key !== null);
  showCommon(found);
  part("ordered").textContent = found.inTime ? "Cases, the earliest quarter first"
    : "Cases, the highest expected count first";
  part("same").hidden = false;
  part("ratio").hidden = true;
  part("counts").replaceChildren(...found.counts.map((/** @type {any} */ count) => element("tr", {},
    element("th", {scope: "row"}, groups ? count.key : "cases"), number(count.lower, 0),
    number(count.known, 0), number(count.expected, 2), number(count.upper, 0))));
  part("sql").textContent = found.sql;
}

addEventListener("dragover", event => event.preventDefault());
addEventListener("drop", event => event.preventDefault());
part("drop").addEventListener("dragover", () => part("drop").classList.add("over"));
part("drop").addEventListener("dragleave", () => part("drop").classList.remove("over"));
part("drop").addEventListener("drop", dropped);
part("folder").addEventListener("change", picked);
part("files").addEventListener("change", picked);
part("questions").addEventListener("submit", asked);
part("questions").addEventListener("input", changed);
for (const id of ["stop", "halt"]) part(id).addEventListener("click", () => {
  worker?.terminate();
  worker = null;
  part("ask").hidden = part("halt").hidden = true;
  tell("stopped: choose the folder again");
  part("status").scrollIntoView({block: "center"});
});
tell("no artifact is open");
