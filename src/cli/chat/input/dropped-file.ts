/** A file that was dropped onto the terminal, which pastes its path as a shell would need it. */

/** `@"path"` for an absolute path of an image or a document and nothing else; nothing for any other text. */
export function parseDroppedFile(pasted: string): string | undefined {
  const text = pasted.trim()
  const path =
    /^'([^'\n]+)'$/.exec(text)?.[1] ?? /^"([^"\n]+)"$/.exec(text)?.[1] ?? pathFromUrl(text) ?? unescapePath(text)
  if (path === undefined || !/^(?:\/|[A-Za-z]:\\).*\.(?:png|jpe?g|gif|webp|pdf)$/i.test(path) || path.includes('"'))
    return undefined
  return /\s/.test(path) ? `@"${path}" ` : `@${path} `
}

/** Spaces are escaped, or there are none. */
const unescapePath = (text: string): string | undefined =>
  /(?<!\\)\s/.test(text) ? undefined : text.replaceAll(/\\([ ()[\]'&!$`])/g, '$1')

function pathFromUrl(text: string): string | undefined {
  if (!/^file:\/\/\/\S+$/.test(text)) return undefined
  try {
    return decodeURIComponent(text.slice('file://'.length))
  } catch {
    return undefined
  }
}
