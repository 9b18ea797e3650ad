/** Writes messages unchanged, one per line. */

import { digestOfText } from '../../lib/json/compare.ts'
import { TextBatcher } from '../../lib/text.ts'
import { type Fields, toJsonText } from '../../lib/unknown-values.ts'
import { type NormalizedMessage, serializeMessage } from '../../model/normalized.ts'
import { extensionOf, type SourceExtension, toRecordOutcomes } from '../../model/replay/extension.ts'
import { toConversionChange } from '../../model/replay/step.ts'
import type { Session } from '../../model/session.ts'
import type { AgentWriteOptions, WriterOutput } from '../agent.ts'
import { AGENT_ID } from './find.ts'
import { withoutExtension } from './to-message.ts'

/** Every record is a message in this format, so nothing is regrouped. */
export async function* write(
  session: Session,
  messages: AsyncIterable<NormalizedMessage>,
  { withoutExtensions }: AgentWriteOptions,
): AsyncGenerator<WriterOutput> {
  let isFirst = true
  const text = new TextBatcher()
  for await (const message of messages) {
    const extension = extensionOf(message)
    const bare = withoutExtension(message as unknown as Fields)
    const own = extension?.src === AGENT_ID ? extension.records?.[0] : undefined
    const keptExtension = withoutExtensions ? replacementOnly(extension) : extension
    const { json, cut } = serializeMessage((own ?? bare) as NormalizedMessage)
    const line =
      own === undefined
        ? withExtension(json, bare, keptExtension, isFirst && !withoutExtensions ? session : undefined)
        : json
    isFirst = false
    text.push(line, '\n')
    const bytes = text.takeIfFull()
    if (bytes) yield { kind: 'bytes', bytes }
    if (cut) yield { kind: 'loss', path: message.id, what: toConversionChange('nested_too_deep'), kept_in: null }
    const records = extension?.records ?? []
    const as = own === undefined ? [bare] : records
    yield* toRecordOutcomes([{ records, as, isKept: own === undefined && !withoutExtensions }], 'x_conv')
  }
  const bytes = text.takeRest()
  if (bytes) yield { kind: 'bytes', bytes }
}

/** Messages that replace the history after a compaction are part of the conversation. */
function replacementOnly(extension: SourceExtension | undefined): SourceExtension | undefined {
  const { src, replacement } = extension ?? {}
  return src === undefined || replacement === undefined ? undefined : { src, replacement }
}

/** Metadata comes last, so that the extension is appended after the text that the digest covers. */
function withExtension(
  json: string,
  bare: Fields,
  extension: SourceExtension | undefined,
  session: Session | undefined,
): string {
  if (!extension && !session) return json
  const { path: _, ...known } = session ?? { path: '' }
  const { at: __, ...carriedExtension } = extension ?? { src: AGENT_ID }
  const x_conv = toJsonText({ ...carriedExtension, ...(session && { session: known }), seal: digestOfText(json) })
  if (bare['metadata'] === undefined) return `${json.slice(0, -1)},"metadata":{"x_conv":${x_conv}}}`
  return `${json.slice(0, -2)},"x_conv":${x_conv}}}`
}
