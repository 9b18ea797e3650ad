/** Checks a conversation as Amazon Q CLI stores it: whether the program loads it, and whether its service takes it. */
import { isUtf8 } from 'node:buffer'
import { readState } from '../../../conversation/codec/read-state.ts'
import { MAX_CONVERSATION_STATE_HISTORY_LEN } from '../../../conversation/limits.ts'
import type { History } from '../../../conversation/record.ts'
import type { ConversationState } from '../../../conversation/state.ts'
import { MAX_LINE_BYTES } from '../../../lib/lines.ts'
import { decodeUtf8 } from '../../../lib/text.ts'
import { phrase } from '../../../model/phrase.ts'
import { type CheckFinding, FindingCollector } from '../finding.ts'
import { checkHistory } from './history.ts'
import { AMAZON_Q_RULES, type AmazonQReport, type AmazonQRule } from './rules.ts'
import { checkTools } from './tools.ts'

/** @param bytes a file of `/save`, or the value of a row */
export function checkAmazonQ(bytes: Uint8Array): readonly CheckFinding<AmazonQRule>[] {
  const findings = new FindingCollector(AMAZON_Q_RULES)
  const state = loadState(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), findings.report)
  if (state) checkState(state, findings.report)
  return findings.take()
}

function loadState(bytes: Buffer, report: AmazonQReport): ConversationState | undefined {
  if (bytes.length > MAX_LINE_BYTES)
    report(
      'loads',
      '$',
      phrase('It is longer than 128 MB, which is not looked into.', '128 MB を超えるため、中を調べません。'),
    )
  else if (!isUtf8(bytes))
    report('utf8', '$', phrase('It holds bytes that are not UTF-8.', 'UTF-8 ではないバイトがあります。'))
  else {
    const read = readState(decodeUtf8(bytes), { mode: 'strict' })
    if (read.ok) return read.value
    report(
      'loads',
      read.path,
      phrase(`The program does not load it: ${read.reason}.`, `プログラムが読み込めません: ${read.reason}`),
    )
  }
  return undefined
}

/** Room for the next message, its answer and the context pair. */
const MAX_PAIRS = (MAX_CONVERSATION_STATE_HISTORY_LEN - 6) / 2

function checkState(state: ConversationState, report: AmazonQReport): void {
  if (state.conversation_id === '')
    report('conversation_id', '$.conversation_id', phrase('The conversation has no id.', '会話に ID がありません。'))
  const listed = checkTools(state.tools, report)
  const check = (history: History, next: ConversationState['next_message'], path: string, nextPath: string): void => {
    if (history.length > MAX_PAIRS)
      report(
        'history_length',
        path,
        phrase(
          `It has ${history.length} pairs; of more than ${MAX_PAIRS}, the oldest are not sent.`,
          `${history.length} 組あります。${MAX_PAIRS} 組を超えると、古いものは送られません。`,
        ),
      )
    checkHistory(history, next, { path, nextPath, listed }, report)
  }
  check(state.history, state.next_message, '$.history', '$.next_message')
  const main = state.tangent_state
  if (main) {
    const path = '$.tangent_state.main'
    check(main.main_history, main.main_next_message, `${path}_history`, `${path}_next_message`)
  }
  if (state.transcript.length > MAX_CONVERSATION_STATE_HISTORY_LEN)
    report(
      'transcript_length',
      '$.transcript',
      phrase(
        `It has more than ${MAX_CONVERSATION_STATE_HISTORY_LEN} lines.`,
        `${MAX_CONVERSATION_STATE_HISTORY_LEN} 行を超えています。`,
      ),
    )
}
