/** Names and descriptions under which the tools of a server are offered to the model. Pure. */

import { byteLength, truncateSafe } from '../../conversation/truncate.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { MAX_TOOL_DESCRIPTION_BYTES, MAX_TOOL_NAME_BYTES } from './limits.ts'

export interface OfferedTool {
  readonly name: string
  readonly description: string
}

/** A phrase says why the model cannot have it. */
export function offerTool(
  host: { readonly name: string; readonly description: string },
  alias: string | undefined,
  taken: ReadonlySet<string>,
): OfferedTool | Phrase {
  const name = alias ?? toModelName(host.name, taken)
  if (byteLength(name) > MAX_TOOL_NAME_BYTES)
    return phrase(
      `its name is longer than ${MAX_TOOL_NAME_BYTES} bytes; give it an alias`,
      `名前が ${MAX_TOOL_NAME_BYTES} バイトを超えています。別名を付けてください`,
    )
  if (host.description.trim() === '') return phrase('it has no description', '説明がありません')
  return { name, description: truncateSafe(host.description, MAX_TOOL_DESCRIPTION_BYTES) }
}

/** The server's own name where models can say it, else what is left of it. */
export function toModelName(host: string, taken: ReadonlySet<string>): string {
  const name = VALID_NAME.test(host) ? host : toValidName(host)
  return name !== host && taken.has(name) ? `${name}1` : name
}

const VALID_NAME = /^[a-zA-Z][a-zA-Z0-9_]*$/

function toValidName(host: string): string {
  const valid = host.replaceAll(/[^a-zA-Z0-9_]/g, '').replaceAll('___', '')
  if (valid === '') return `a${String(checksumOf(host) % 1000).padStart(3, '0')}`
  return /^[a-zA-Z]/.test(valid) ? valid : `a${valid}`
}

/** The same for the same name, always. */
function checksumOf(text: string): number {
  let sum = 0
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) >>> 0
  return sum
}
