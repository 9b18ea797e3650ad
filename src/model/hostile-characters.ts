/**
 * Spells out characters that hide, reorder or control text, as `<U+202E>`. Only this file decides which characters
 * those are.
 */

const CONTROLS = '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f'
/** Line separators, embeddings, overrides, isolates, deprecated formats, annotations, unpaired surrogates. */
const REORDERING = '\\u180e\\u2028-\\u202e\\u2066-\\u206f\\ufff9-\\ufffb\\u{1d173}-\\u{1d17a}\\p{Surrogate}'
/** Tags, and everything else in their block except variation selectors: invisible text that a model can read. */
const TAGS = '\\u{e0000}-\\u{e00ff}\\u{e01f0}-\\u{e0fff}'
/** The three flags that are written with tags: England, Scotland, Wales. */
const FLAGS =
  '\\u{1f3f4}\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}'
/** Variation selectors are legitimate after an emoji, a symbol or an ideograph. Elsewhere they can carry data. */
const SELECTORS =
  '(?<![0-9#*©®]|[^\\u0000-\\u00ff\\p{Z}\\p{Cc}\\p{Cf}\\p{VS}])[\\ufe00-\\ufe0f]|(?<!\\p{Script=Han})[\\u{e0100}-\\u{e01ef}]'
/**
 * Characters without width, or that look like a blank. Legitimate in text, but not where a person decides by
 * appearance.
 */
const ZERO_WIDTH =
  '\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2060-\\u2065\\u2800\\u3164\\ufeff\\uffa0'
/** More marks on one letter than any script uses. */
const EXCESS_MARKS = '(?<=\\p{M}{4})\\p{M}'
/** Look like blanks, but do not separate words in a shell. */
const BLANKS = '\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000'

const toPattern = (characters: string, ...more: readonly string[]): RegExp =>
  new RegExp([FLAGS, `[${characters}]`, SELECTORS, ...more].join('|'), 'gu')

const IN_TEXT = toPattern(CONTROLS + REORDERING + TAGS)
/** Escape sequences that we write: colours (except concealed text), and the movements that redraw a line. */
const OWN_ESCAPE = '\\[(?:(?!8m)[0-9]{1,2}m|[0-9]*[AC]|J|\\?25[hl])'
const IN_OUTPUT = toPattern(
  `\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001a\\u001c-\\u001f\\u007f-\\u009f${REORDERING}${TAGS}`,
  `\\u001b(?!${OWN_ESCAPE})`,
  '\\r(?![\\n\\u001b]|$)',
)
const IN_JUDGED_TEXT = toPattern(CONTROLS + REORDERING + TAGS + ZERO_WIDTH, EXCESS_MARKS)
const IN_COMMANDS = toPattern(CONTROLS + REORDERING + TAGS + ZERO_WIDTH + BLANKS, EXCESS_MARKS)

/** Quick test: almost no text matches, and only matches are examined. Surrogates may belong to a tag. */
const SUSPECT_TEXT = new RegExp(
  `[${CONTROLS}\\u180e\\u2028-\\u202e\\u2066-\\u206f\\ud800-\\udfff\\ufe00-\\ufe0f\\ufff9-\\ufffb]`,
)

const spellOut = (found: string): string => {
  const code = found.codePointAt(0) ?? 0
  return code === BLACK_FLAG ? found : `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
}

const BLACK_FLAG = 0x1f3f4

/**
 * For reading: messages, titles, answers. Spells out control characters and characters that reorder or smuggle text.
 * Keeps newlines, tabs, direction marks (LRM, RLM, ALM) and joiners, which scripts and emoji need.
 */
export const toReadable = (text: string): string => (SUSPECT_TEXT.test(text) ? text.replace(IN_TEXT, spellOut) : text)

/** Like `toReadable`, but keeps our own colours and movements. The last step before output to a terminal. */
export const toReadableOutput = (text: string): string =>
  SUSPECT_TEXT.test(text) ? text.replace(IN_OUTPUT, spellOut) : text

/** For decisions: paths, names, changes. Also spells out characters without width. */
export const toVisible = (text: string): string => text.replace(IN_JUDGED_TEXT, spellOut)

/** For shell commands: also spells out blanks that do not separate words. */
export const toVisibleCommand = (text: string): string => text.replace(IN_COMMANDS, spellOut)

const IN_JSON =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u180e\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb]|\udb40[\udc00-\udfff]|[\ufe00-\ufe0f]{2,}/g

/** Controls that cannot occur in JSON text, but in other machine-readable output. */
const JSON_CONTROLS = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f'
/** A plain character class is three times as fast. */
const SUSPECT_JSON = new RegExp(
  `[${JSON_CONTROLS}\\u061c\\u180e\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u206f\\udb40\\ufe00-\\ufe0f\\ufff9-\\ufffb]`,
)

/** Escapes what `toReadable` spells out. The JSON is safe in a terminal and parses to the same value. */
export const toSafeJson = (json: string): string =>
  SUSPECT_JSON.test(json) ? json.replace(IN_JSON, (found) => found.replace(/[\s\S]/g, escapeUnit)) : json

const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
