/** Lists where the secrets of a session stand, without the secrets. */
import type { FoundSecret, SecretPlace } from '../model/api/secrets.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import { mergeSpans } from './find/span.ts'
import { TextCollector } from './message-texts.ts'
import { Placeholders } from './placeholders.ts'
import { isDataUri } from './rewrite-message.ts'
import { namesSecret, SecretFinder } from './secret-finder.ts'
import { UNEXAMINED } from './secrets.ts'

/**
 * Reads the messages twice: a value that one message gives away is listed everywhere.
 * @param open reads the session from its start
 */
export async function* listSecrets(open: () => AsyncIterable<NormalizedMessage>): AsyncGenerator<FoundSecret> {
  const finder = new SecretFinder()
  await finder.learn(open())
  const names = new Placeholders()
  for await (const message of open())
    for (const [place, part] of partsOf(message)) {
      const found = new Map<string, FoundSecret>()
      for (const { name, kind } of await secretsIn(part, finder, names)) {
        const known = found.get(name)
        const { raw, role, id } = message
        found.set(name, {
          session: raw.session_id,
          message: id,
          line: raw.line_index,
          role,
          place,
          kind,
          name,
          count: (known?.count ?? 0) + 1,
        })
      }
      yield* found.values()
    }
}

/** One message for each part, so that a finding says where it is. */
function* partsOf(message: NormalizedMessage): Generator<readonly [SecretPlace, NormalizedMessage]> {
  const { tool_call, metadata, segments, ...rest } = message
  const bare = { ...rest, segments: [] }
  if (segments.length > 0) yield ['text', { ...bare, segments }]
  if (tool_call) {
    const { output, output_json, ...call } = tool_call
    // The message of a result repeats its call.
    if (message.source_type !== 'tool_result') yield ['arguments', { ...bare, tool_call: call }]
    const result = { call_id: null, name: null, status: call.status }
    if (output !== undefined) yield ['output', { ...bare, tool_call: { ...result, output } }]
    else if (output_json !== undefined) yield ['output', { ...bare, tool_call: { ...result, output_json } }]
  }
  if (metadata) yield ['metadata', { ...bare, metadata }]
}

async function secretsIn(
  part: NormalizedMessage,
  finder: SecretFinder,
  names: Placeholders,
): Promise<readonly { readonly name: string; readonly kind: string }[]> {
  const collector = new TextCollector(namesSecret)
  collector.add(part)
  const found = await finder.examine(collector.fields(), collector.joined)
  return collector.fields().flatMap(({ text, key }) => {
    if (isDataUri(text)) return []
    const spans = finder.spansIn(text, key, found).filter(({ kind }) => !UNEXAMINED.has(kind))
    const secrets = new Map(spans.map(({ start, end, secret }) => [`${start} ${end}`, secret]))
    return mergeSpans(spans).map(({ start, end, kind }) => {
      const secret = secrets.get(`${start} ${end}`) ?? text.slice(start, end)
      return { kind, name: names.take(secret, kind).replace(/^\[redacted-|\]$/g, '') }
    })
  })
}
