/** Text that somebody has to judge: what cannot be seen in it is spelled out, so that nothing hides. */

const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu

/** Control characters, and those that turn or hide others, as `\u{1b}`. New lines and tabs stay. */
export const visible = (text: string): string =>
  text.replaceAll(UNSEEN, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`)
