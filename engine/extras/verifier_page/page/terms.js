// The key of a term: one text for all of its spellings, derived once more from the definition (SPEC,
// section 2). Unicode is that of version 14.0, whatever the browser has.

const APOSTROPHES = new RegExp("[`\\u00b4\\u02b9\\u02bb-\\u02bd\\u02c8\\u055a\\u05f3\\u1fef\\u1ffd"
  + "\\u2018-\\u201b\\u2032\\u2035\\ua78c\\uff07\\uff40]", "g");
const HYPHENS = new RegExp("[\\u02d7\\u058a\\u05be\\u1806\\u2010-\\u2015\\u2043\\u2212\\u2e3a\\u2e3b"
  + "\\ufe58\\ufe63\\uff0d]", "g");
const BLANKS = new RegExp("[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f"
  + "\\u205f\\u3000]+", "g");
const CONTROLS = /[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]/g;
const MARKS = /[\u0300-\u036f]/g;
/** Letters whose case is folded to the upper one. */
const CHEROKEE = /[\u13a0-\u13f5\u13f8-\u13fd\uab70-\uabbf]/;
/** A character that Unicode 14.0 leaves unassigned: the letters of a text with one are kept. */
const UNASSIGNED = new RegExp(`[${UNASSIGNED_14.split(/\s+/).map(range =>
  range.split("-").map(code => `\\u{${code}}`).join("-")).join("")}]`, "u");
/** Roles of columns whose values are terms. */
const OF_TERMS = ["sensitive", "quasi-sensitive"], OF_KEY = "term key";

/** Full case folding of one character: what upper case makes of it, in lower case, with exceptions.
 * @param {string} sign */
function folded(sign) {
  if (sign === "\u0131") return sign;
  if (sign === "\u1e9e") return "ss";
  if (CHEROKEE.test(sign)) return sign.toUpperCase();
  return Array.from(sign.toUpperCase(), letter => letter.toLowerCase()).join("");
}

/** One pass of the rules, which looks at each sign a bounded number of times.
 * @param {string} text */
function oncePassed(text) {
  const folds = !UNASSIGNED.test(text);
  let found = text.replace(APOSTROPHES, "'").replace(HYPHENS, "-");
  if (folds) found = found.replace(/(?<=\p{L})\^(?=\p{L})/gu, "'");
  found = found.replace(BLANKS, " ").replace(CONTROLS, "").replace(INVISIBLE, "");
  if (folds)
    found = Array.from(found.normalize("NFKD").replace(MARKS, "").normalize("NFC"), folded).join("");
  found = found.replace(BLANKS, " ").replace(/ ?([-/]) ?/g, "$1");
  let from = 0, to = found.length;
  while (from < to && found[from] === " ") from += 1;
  while (to > from && " .".includes(found[to - 1])) to -= 1;
  return found.slice(from, to);
}

/** The key of a term, for which termKey(key) is the key; empty: the term is white space alone. A text
 * of which nothing would be left is its own key, composed.
 * @param {string} text */
function termKey(text) {
  let key = text;
  for (let before = null; before !== key;) {
    before = key;
    key = oncePassed(key);
  }
  return key || (text.replace(BLANKS, "") ? text.normalize("NFC") : "");
}

/** The version of the key by which an artifact compares terms: 0, upper case; one that is not known
 * counts as the newest.
 * @param {Manifest} part */
const termKeyOf = ({parameters}) =>
  Number(Object.hasOwn(parameters, "term_key") && parameters.term_key !== 0);

/** The value of a term, in which its spellings are the same; empty: none.
 *
 * @param {Manifest} part
 * @param {string} spelling */
const termValue = (part, spelling) =>
  termKeyOf(part) ? termKey(spelling) : normalForm(spelling, part.artifact_version);

/** A value as thresholds have it: a key to the letter, and before there were keys in any case.
 *
 * @param {Manifest} part
 * @param {string} value */
const thresholdValue = (part, value) => termKeyOf(part) ? value : upper(value);

/** @type {WeakMap<Dictionary, Map<boolean, string[]>>} */
const FORMS = new WeakMap();

/** By what a text of a column is compared: of terms that have keys their key, else upper case.
 *
 * @param {Column} column
 * @param {string} text */
const comparedAs = ({keyed}, text) => keyed ? termKey(text) : upper(text);

/** The same of every text of the column, in the order of its codes.
 *
 * @param {Column} column
 * @returns {string[]} */
function comparedTexts(column) {
  const {dictionary} = column, known = FORMS.get(dictionary) ?? new Map();
  FORMS.set(dictionary, known);
  const found = known.get(column.keyed) ?? dictionary.values.map(text => comparedAs(column, text));
  known.set(column.keyed, found);
  return found;
}

/** What a manifest must not say of keys of terms.
 *
 * @param {Manifest} part
 * @returns {string[]} */
function keyFaults(part) {
  const told = part.parameters.term_key ?? 0, due = termKeyOf(part), faults = [];
  if (told !== 0 && told !== 1)
    faults.push(`parameter term_key is ${printable(told)}, this page knows 0 and 1`);
  if ((part.artifact_version >= 5) !== (due > 0))
    faults.push(`term_key is ${printable(told)}, in version ${part.artifact_version}`);
  for (const {name, columns} of part.tables) {
    const keys = columns.filter(({role}) => role === OF_KEY).map(column => column.name);
    const terms = columns.filter(({role}) => OF_TERMS.includes(role)).map(column => `${column.name}_key`);
    const wanted = due ? terms : [];
    for (const key of wanted)
      if (!keys.includes(key)) faults.push(`${name} has no column ${key} with the keys of terms`);
    for (const key of keys) if (!wanted.includes(key))
      faults.push(`${name}.${key} is told to have keys, and is beside no column of terms`);
  }
  return faults;
}

/** Beside every term stands the key of its spelling.
 *
 * @param {Quarter} quarter
 * @returns {Check | null} Null: terms of the artifact have no keys. */
function checkTermKeys({part, tables}) {
  if (!termKeyOf(part)) return null;
  const check = new Check("term keys", 0);
  for (const table of tables.values()) {
    const pairs = table.columns.flatMap(column => {
      const key = OF_TERMS.includes(column.role)
        && table.columns.find(({name, role}) => role === OF_KEY && name === `${column.name}_key`);
      return key ? [{column, key, due: comparedTexts(column)}] : [];
    });
    check.total += pairs.length * table.rows;
    let wrong = 0;
    for (let row = 0; row < table.rows; row++)
      wrong += Number(pairs.some(({column, key, due}) =>
        (column.codes[row] < 0 ? "" : due[column.codes[row]]) !== (valueAt(key, row) ?? "")));
    if (wrong) check.add(() => `${wrong} rows of ${table.name} have a key that is not that of their `
      + "spelling");
  }
  return check;
}
