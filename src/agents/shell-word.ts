/** Words as a shell reads them. */

/** Characters that a terminal would obey when the line is pasted, or that hide what it says. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/u

/** Words with control characters are spelled out in bash's `$'…'`, so that the line shows all that it holds. */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-][\w@%+=:,./~-]*$/.test(text)) return text
  return UNSEEN.test(text) ? `$'${[...text].map(spelled).join('')}'` : `'${text.replaceAll("'", "'\\''")}'`
}

function spelled(letter: string): string {
  if (letter === "'" || letter === '\\') return `\\${letter}`
  if (!UNSEEN.test(letter)) return letter
  const code = (letter.codePointAt(0) ?? 0).toString(16)
  return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`
}
