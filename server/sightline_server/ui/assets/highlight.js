// Colours for code: comments, strings, numbers, keywords and calls of the usual languages. Text only, never markup.

const KEYWORDS = new Set((
  "abstract and as assert async await bool boolean break byte case catch chan char class const constexpr continue def default defer del delete do double elif else end enum " +
  "except export extends extern false False final finally float fn for from func function global go goto if impl implements import in instanceof int interface " +
  "internal is lambda let local long loop match mod module mut namespace new nil None not null nullptr object of operator or override package pass private protected " +
  "protocol pub public raise range readonly rescue return select self Self short signed sizeof static string struct super switch template this throw throws trait " +
  "true True try type typedef typename typeof union unless unsafe unsigned use using val var virtual void volatile when where while with yield"
).split(" "));
const HASH = new Set(["python", "ruby", "bash", "toml", "yaml", "make", "php", "dockerfile", "cmake", "perl", "r"]);
const DASHES = new Set(["lua", "sql", "haskell"]);
const STRINGS = String.raw`"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|` + "`(?:\\\\.|[^`\\\\])*`?";
const MAX_CHARS = 200000;

function pattern(language) {
  const comments = HASH.has(language) ? "#[^\\n]*" : DASHES.has(language) ? "--[^\\n]*" : "\\/\\/[^\\n]*|\\/\\*[\\s\\S]*?(?:\\*\\/|$)";
  return new RegExp(`(?<comment>${comments})|(?<string>${STRINGS})|(?<number>\\b\\d[\\w.]*)|(?<word>[A-Za-z_$][\\w$]*)(?<call>\\s*\\()?`, "g");
}

/** Puts the code into an element as spans; returns the number of lines. */
export function paint(element, text, language, firstLine, marked) {
  element.replaceChildren();
  const line = { node: null, number: firstLine };
  const begin = () => {
    line.node = document.createElement("span");
    line.node.className = line.number === marked ? "line here" : "line";
    line.node.dataset.line = String(line.number);
    element.append(line.node);
  };
  const put = (piece, kind) => {
    const parts = piece.split("\n");
    parts.forEach((part, at) => {
      if (at > 0) {
        line.node.append("\n");
        line.number += 1;
        begin();
      }
      if (!part) return;
      if (!kind) return line.node.append(part);
      const span = document.createElement("span");
      span.className = kind;
      span.textContent = part;
      line.node.append(span);
    });
  };
  begin();
  let last = 0;
  const shown = text.slice(0, MAX_CHARS);
  for (const match of shown.matchAll(pattern(language))) {
    const { comment, string, number, word, call } = match.groups;
    put(shown.slice(last, match.index), "");
    last = match.index + match[0].length;
    if (comment) put(comment, "comment");
    else if (string) put(string, "string");
    else if (number) put(number, "number");
    else {
      put(word, KEYWORDS.has(word) ? "keyword" : call ? "call" : /^[A-Z]/.test(word) ? "type" : "");
      if (call) put(call, "");
    }
  }
  put(shown.slice(last), "");
  return line.number - firstLine + 1;
}
