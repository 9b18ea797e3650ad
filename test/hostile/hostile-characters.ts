/** Characters that hide, reorder or control text, with their names. */
export const HOSTILE_CHARACTERS: readonly (readonly [name: string, character: string])[] = [
  ['NUL', '\u0000'],
  ['backspace', '\u0008'],
  ['escape', '\u001b'],
  ['delete', '\u007f'],
  ['C1 CSI', '\u009b'],
  ['C1 next line', '\u0085'],
  ['left-to-right embedding', '\u202a'],
  ['right-to-left embedding', '\u202b'],
  ['pop direction', '\u202c'],
  ['left-to-right override', '\u202d'],
  ['right-to-left override', '\u202e'],
  ['left-to-right isolate', '\u2066'],
  ['right-to-left isolate', '\u2067'],
  ['first strong isolate', '\u2068'],
  ['pop isolate', '\u2069'],
  ['activate Arabic shaping', '\u206d'],
  ['line separator', '\u2028'],
  ['paragraph separator', '\u2029'],
  ['Mongolian vowel separator', '\u180e'],
  ['annotation anchor', '\ufff9'],
  ['annotation end', '\ufffb'],
  ['language tag', '\u{e0001}'],
  ['tag A', '\u{e0041}'],
  ['tag end', '\u{e007f}'],
  ['half of a character', '\ud83d'],
]

/** All characters, each between letters. */
export const HOSTILE_TEXT = `x${HOSTILE_CHARACTERS.map(([, character]) => `${character}y`).join('')}`

/** Names of hostile characters in a text. Newline, tab and our own colours are allowed. */
export const hostileIn = (text: string): readonly string[] =>
  HOSTILE_CHARACTERS.filter(([, character]) =>
    character === '\ud83d' ? /\p{Surrogate}/u.test(text) : text.includes(character),
  ).map(([name]) => name)
