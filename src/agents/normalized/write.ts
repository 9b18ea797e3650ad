/** Writes messages as they are, one on each line. */
import { sealOf } from '../../lib/json/seal.ts'
import type { Fields } from '../../lib/object.ts'
import type { Metadata, NormalizedMessage } from '../../model/normalized.ts'
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
  for await (const message of messages) {
    const extension = extensionOf(message)
    const bare = withoutExtension(message as unknown as Fields)
    const own = extension?.src === AGENT_ID ? extension.records?.[0] : undefined
    const kept = withoutExtensions ? replacementOnly(extension) : extension
    const line = own ?? extended(bare, kept, isFirst && !withoutExtensions ? session : undefined)
    isFirst = false
    const { json, cut } = serialize(line as NormalizedMessage)
    yield { kind: 'bytes', bytes: Buffer.from(`${json}\n`) }
    if (cut) yield { kind: 'loss', path: message.id, what: 'parts nested too deep', kept_in: null }
    const records = extension?.records ?? []
    if (records.length === 0) continue
    const as = own === undefined ? [bare] : records
    yield { kind: 'told', told: { records, as, kept_in: own !== undefined || withoutExtensions ? null : 'x_conv' } }
  }
}

/** What the model goes on with after a compaction belongs to the conversation. */
function replacementOnly(extension: Extension | undefined): Extension | undefined {
  const { src, replacement } = extension ?? {}
  return src === undefined || replacement === undefined ? undefined : { src, replacement }
}

function extended(bare: Fields, extension: Extension | undefined, session: Session | undefined): Fields {
  if (!extension && !session) return bare
  const { path: _, ...known } = session ?? { path: '' }
  const { at: __, ...carried } = extension ?? { src: AGENT_ID }
  const x_conv = { ...carried, ...(session && { session: known }), seal: sealOf(bare, '') }
  return { ...bare, metadata: { ...(bare['metadata'] as Metadata | undefined), x_conv } }
}
