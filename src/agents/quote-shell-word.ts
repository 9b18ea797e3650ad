/** Words as a shell reads them. */

/** Characters that a terminal would obey when the line is pasted, or that hide what it says. */
const INVISIBLE_CHARACTERS = /[\p{Cc}\p{Cf}\u2028\u2029]/u

/** Words with control characters are spelled out in bash's `$'…'`, so that the line shows all that it holds. */
export function quoteShellWord(text: string): string {
  if (/^[\w@%+=:,./-][\w@%+=:,./~-]*$/.test(text)) return text
  return INVISIBLE_CHARACTERS.test(text)
    ? `$'${[...text].map(escapeCharacter).join('')}'`
    : `'${text.replaceAll("'", "'\\''")}'`
}

function escapeCharacter(character: string): string {
  if (character === "'" || character === '\\') return `\\${character}`
  if (!INVISIBLE_CHARACTERS.test(character)) return character
  const code = (character.codePointAt(0) ?? 0).toString(16)
  return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`
}
