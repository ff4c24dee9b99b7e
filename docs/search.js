// The order of what the search finds; Sphinx puts it into the site. docs/conf.py indexes each section besides its page, as
// a page that is named PAGE#SECTION: here it becomes a link to the section, with both titles. What has the words that were
// asked for in its titles comes first, sections come before whole pages, the list of changes comes last.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,

  // result: page, title, anchor, description, score, file, kind
  score: (result) => {
    const [page, section] = result[0].split("#");
    if (section) {
      const { docnames, titles } = Search._index;
      result[0] = page;
      result[1] = `${titles[docnames.indexOf(page)]} > ${result[1]}`;
      result[2] = `#${section}`;
    }
    const asked = new URLSearchParams(window.location.search).get("q").toLowerCase();
    const words = asked.match(/[\p{Letter}\p{Number}]{3,}/gu) ?? [];
    const title = result[1].toLowerCase();
    const named = words.filter((word) => title.includes(word.replace(/s$/, ""))).length;
    return (
      result[4] + (10 * named) / Math.max(words.length, 1) + (result[2] ? 2 : 0) - (page === "CHANGELOG" ? 20 : 0)
    );
  },
};
