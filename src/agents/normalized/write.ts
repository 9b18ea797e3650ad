/** Writes messages as they are, one on each line. */
import { TextChunks } from '../../lib/disk/text-chunks.ts'
import { sealOfText } from '../../lib/json/seal.ts'
import { type Fields, jsonText } from '../../lib/object.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { toldOf } from '../../model/replay/carrier.ts'
import { change } from '../../model/replay/change.ts'
import { type Extension, extensionOf } from '../../model/replay/extension.ts'
import { serialize } from '../../model/serialize.ts'
import type { Session } from '../../model/session.ts'
import type { WriteOptions, Written } from '../agent.ts'
import { AGENT_ID } from './find.ts'
import { withoutExtension } from './message.ts'

/** Everything is a message here, also what nobody said: nothing is regrouped. */
export async function* write(
  session: Session,
  messages: AsyncIterable<NormalizedMessage>,
  { withoutExtensions }: WriteOptions,
): AsyncGenerator<Written> {
  let isFirst = true
  const text = new TextChunks()
  for await (const message of messages) {
    const extension = extensionOf(message)
    const bare = withoutExtension(message as unknown as Fields)
    const own = extension?.src === AGENT_ID ? extension.records?.[0] : undefined
    const kept = withoutExtensions ? replacementOnly(extension) : extension
    const { json, cut } = serialize((own ?? bare) as NormalizedMessage)
    const line =
      own === undefined ? extended(json, bare, kept, isFirst && !withoutExtensions ? session : undefined) : json
    isFirst = false
    text.push(line, '\n')
    const bytes = text.taken()
    if (bytes) yield { kind: 'bytes', bytes }
    if (cut) yield { kind: 'loss', path: message.id, what: change('nested_too_deep'), kept_in: null }
    const records = extension?.records ?? []
    const as = own === undefined ? [bare] : records
    yield* toldOf([{ records, as, isKept: own === undefined && !withoutExtensions }], 'x_conv')
  }
  const bytes = text.rest()
  if (bytes) yield { kind: 'bytes', bytes }
}

/** What the model goes on with after a compaction belongs to the conversation. */
function replacementOnly(extension: Extension | undefined): Extension | undefined {
  const { src, replacement } = extension ?? {}
  return src === undefined || replacement === undefined ? undefined : { src, replacement }
}

/** Metadata come last, so that the extension is put at the end of the text that was sealed. */
function extended(json: string, bare: Fields, extension: Extension | undefined, session: Session | undefined): string {
  if (!extension && !session) return json
  const { path: _, ...known } = session ?? { path: '' }
  const { at: __, ...carried } = extension ?? { src: AGENT_ID }
  const x_conv = jsonText({ ...carried, ...(session && { session: known }), seal: sealOfText(json) })
  if (bare['metadata'] === undefined) return `${json.slice(0, -1)},"metadata":{"x_conv":${x_conv}}}`
  return `${json.slice(0, -2)},"x_conv":${x_conv}}}`
}
