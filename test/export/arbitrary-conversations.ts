/** Random conversations, and their exports. */
import fc from 'fast-check'
import type { ExportInput, ExportOptions } from '../../src/export/export-input.ts'
import { EXPORT_FORMAT_ENTRIES, type ExportFormatName } from '../../src/export/formats.ts'
import { readOutline } from '../../src/export/outline.ts'
import type { Instant, SessionId } from '../../src/model/ids.ts'
import type { NormalizedMessage } from '../../src/model/normalized.ts'
import type { Session } from '../../src/model/session.ts'

export type Step =
  | { readonly kind: 'prompt' | 'answer' | 'thought' | 'context' | 'system'; readonly text: string }
  | { readonly kind: 'tool'; readonly text: string; readonly output: string; readonly failed: boolean }

const at = (second: number): Instant => new Date(Date.UTC(2026, 3, 5, 6, 7, second)).toISOString() as Instant

export const SESSION: Session = {
  id: 'codex:test' as SessionId,
  agent: 'codex',
  native_id: 'test',
  first_record: 'ab',
  path: 'rollout.jsonl',
  kind: 'conversation',
  started_at: at(0),
  models: ['gpt-5'],
  ancestors: [],
}

export const messagesOf = (steps: readonly Step[]): readonly NormalizedMessage[] =>
  steps.flatMap((step, line) => {
    const place = { timestamp: at(line), raw: { ...RAW, line_index: line + 1 } }
    const id = `${at(line)}#${line + 1}`
    if (step.kind !== 'tool') return [{ id, ...place, ...content(step.kind, step.text) }]
    const call_id = `call_${line}`
    const call = { call_id, name: 'shell', input: step.text, status: 'pending' } as const
    const status = step.failed ? 'error' : 'success'
    return [
      { id, ...place, role: 'tool', source_type: 'tool_call', segments: [], tool_call: call },
      {
        id: `${id}.2`,
        ...place,
        role: 'tool',
        source_type: 'tool_result',
        segments: [],
        tool_call: { ...call, status, output: step.output },
      },
    ]
  })

const RAW = { event_type: null, payload_type: null, file_path: 'rollout.jsonl', session_id: 'codex:test' }

type ArbitraryText = Pick<NormalizedMessage, 'role' | 'source_type' | 'segments' | 'metadata'>

function content(kind: Exclude<Step['kind'], 'tool'>, text: string): ArbitraryText {
  if (kind === 'thought')
    return { role: 'meta', source_type: 'meta', segments: [], metadata: { reasoning_summary: text } }
  const role = kind === 'answer' ? 'assistant' : kind === 'system' ? 'system' : 'user'
  const segments = [{ channel: 'input', type: 'text', format: 'text', text }] as const
  return { role, source_type: 'message', segments, ...(kind === 'context' && { metadata: { injected: true } }) }
}

async function* stream<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}

export async function materialOf(steps: readonly Step[], more: Partial<ExportInput> = {}): Promise<ExportInput> {
  const messages = messagesOf(steps)
  const outline = await readOutline(stream(messages))
  return { session: SESSION, agent: 'Codex', outline, messages: stream(messages), ...more }
}

export async function exported(
  format: ExportFormatName,
  steps: readonly Step[],
  options: ExportOptions = {},
  more: Partial<ExportInput> = {},
): Promise<string> {
  const write = await EXPORT_FORMAT_ENTRIES[format].load()
  let text = ''
  for await (const piece of write(await materialOf(steps, more), options)) text += piece
  return text
}

/** Text that breaks documents: unclosed delimiters, unmatched closing ones, text that resembles structure. */
const HOSTILE = [
  '```',
  '````',
  '~~~',
  '``` js',
  '   ```',
  '- ```',
  '> ```',
  '1. ~~~~',
  '`',
  '``',
  '`` ` ``',
  '\\`',
  '<script>',
  '</script>',
  '<script src=//evil.example>',
  '<!--',
  '-->',
  '<![CDATA[',
  '<?',
  '<details>',
  '</details>',
  '<summary>',
  '<style>',
  '<textarea>',
  '<title>',
  '<plaintext>',
  '<b',
  '<img src=x onerror=hit()>',
  '</div>',
  '<div>',
  '<pre>',
  '\\<div>',
  '\\\\<i>',
  '`<b>`',
  'Set<string>',
  '<https://ok.example/a>',
  '<a@b.example>',
  '&lt;script&gt;',
  '&#60;b&#62;',
  '#',
  '# one',
  '## two',
  '### three',
  '#### four',
  '> # quoted',
  '- # listed',
  '===',
  '---',
  '***',
  '- - -',
  '  ===',
  '> ---',
  '|a|b|',
  '|---|---|',
  '[x]: https://ok.example',
  '[^1]: note',
  '[a](b',
  '![a](b)',
  '- item',
  '  - deeper',
  '1. one',
  '> quote',
  '>',
  '    indented',
  '\ttab',
  '*',
  '**',
  '_',
  '~~',
  '\\',
  '\u0000',
  '\u001b[31m',
  '\r',
  '\u2028',
  '$$',
  ':::',
  '+++',
  '日本語',
  '"',
  "'",
  '{{',
  '&',
]

/** Each text contains a unique word on a separate line. */
export const hostileText = (word: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.array(fc.tuple(fc.constantFrom(...HOSTILE), fc.constantFrom('\n', ' ', '', '\n\n')), { maxLength: 12 }),
      fc.nat(),
    )
    .map(([pieces, place]) => {
      const texts = pieces.map(([piece, after]) => piece + after)
      texts.splice(place % (texts.length + 1), 0, `\n${word}\n`)
      return texts.join('')
    })

/** A conversation that begins with a prompt, and its words. */
export const conversation: fc.Arbitrary<readonly Step[]> = fc
  .array(fc.constantFrom('prompt', 'answer', 'thought', 'tool', 'context', 'system'), { minLength: 1, maxLength: 7 })
  .chain((kinds) =>
    fc.tuple(
      ...['prompt', ...kinds].map(
        (kind, at): fc.Arbitrary<Step> =>
          kind === 'tool'
            ? fc.record({
                kind: fc.constant('tool'),
                text: hostileText(`word${at}x`),
                output: hostileText(`word${at}y`),
                failed: fc.boolean(),
              })
            : fc.record({ kind: fc.constant(kind as 'prompt'), text: hostileText(`word${at}x`) }),
      ),
    ),
  )
