/** Names and descriptions under which the tools of a server are offered to the model. Pure. */

import { byteLength, truncateSafe } from '../../conversation/truncate.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { MAX_DESCRIPTION_BYTES, MAX_NAME_BYTES } from './limits.ts'

export interface Offered {
  readonly name: string
  readonly description: string
}

/** A phrase says why the model cannot have it. */
export function offeredAs(
  host: { readonly name: string; readonly description: string },
  alias: string | undefined,
  taken: ReadonlySet<string>,
): Offered | Phrase {
  const name = alias ?? modelName(host.name, taken)
  if (byteLength(name) > MAX_NAME_BYTES)
    return phrase(
      `its name is longer than ${MAX_NAME_BYTES} bytes; give it an alias`,
      `名前が ${MAX_NAME_BYTES} バイトを超えています。別名を付けてください`,
    )
  if (host.description.trim() === '') return phrase('it has no description', '説明がありません')
  return { name, description: truncateSafe(host.description, MAX_DESCRIPTION_BYTES) }
}

/** The server's own name where models can say it, else what is left of it. */
export function modelName(host: string, taken: ReadonlySet<string>): string {
  const name = SAYABLE.test(host) ? host : sayable(host)
  return name !== host && taken.has(name) ? `${name}1` : name
}

const SAYABLE = /^[a-zA-Z][a-zA-Z0-9_]*$/

function sayable(host: string): string {
  const kept = host.replaceAll(/[^a-zA-Z0-9_]/g, '').replaceAll('___', '')
  if (kept === '') return `a${String(sumOf(host) % 1000).padStart(3, '0')}`
  return /^[a-zA-Z]/.test(kept) ? kept : `a${kept}`
}

/** The same for the same name, always. */
function sumOf(text: string): number {
  let sum = 0
  for (const letter of text) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) >>> 0
  return sum
}
