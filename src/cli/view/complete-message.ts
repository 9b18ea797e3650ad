/** Renders one message with everything in it, where a search hit is opened. */
import { formatArguments, formatOutput } from '../../export/formatting.ts'
import { classify, reasoningTextOf } from '../../model/classify.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { recordedTime } from '../../model/recorded-time.ts'
import { qualifiedToolName } from '../../model/tool-summary.ts'
import { say } from '../language.ts'
import { paint } from './paint.ts'
import { codeLabel, formatDateTime, messageReference, toTerminalLine, toTerminalText } from './text.ts'
import { formatOutcome } from './tool-outcome.ts'
import { wrapText } from './wrap-text.ts'

const INDENT = '  '

export function renderCompleteMessage(message: NormalizedMessage, width: number): string {
  const { tool_call: call, segments, id } = message
  const label = call ? toTerminalLine(qualifiedToolName(call)) : codeLabel(classify(message).kind)
  const place = paint.dim(`${formatDateTime(recordedTime(message))} · ${messageReference(id)}`)
  const head = `${paint.yellow('▶')} ${paint.bold(label)} ${place}${call ? `  ${formatOutcome(call)}` : ''}\n`
  const text = segments
    .map((segment) =>
      segment.type === 'image' ? `[${say('image', '画像')} ${segment.media?.mime_type ?? ''}]` : (segment.text ?? ''),
    )
    .join('\n')
  const sections = [
    section('', toTerminalText(text), width),
    section(say('reasoning', '思考'), toTerminalText(reasoningTextOf(message) ?? ''), width),
    ...(call
      ? [
          section(say('arguments', '引数'), formatArguments(call), width),
          section(say('output', '出力'), formatOutput(call), width),
        ]
      : []),
  ]
  return head + sections.join('')
}

function section(title: string, text: string, width: number): string {
  if (text.trim() === '') return ''
  const caption = title === '' ? '' : `${INDENT}${paint.dim(title)}\n`
  return caption + wrapText(text.trimEnd(), width, INDENT)
}
