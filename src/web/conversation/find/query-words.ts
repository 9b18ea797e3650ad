/** The words of a query that can be made visible: its operators are not words. */

export const queryWords = (query: string): readonly string[] =>
  Array.from(query.matchAll(/"([^"]+)"|(\S+)/g), ([, phrase, word]) => phrase ?? word ?? '')
    .filter(
      (word) =>
        word !== 'OR' && word !== 'AND' && !word.startsWith('-') && !/^\w+:/.test(word) && !/^\/.*\/\w*$/.test(word),
    )
    .map((word) => word.replace(/\*$/, '').toLowerCase())
    .filter((word) => word !== '')
