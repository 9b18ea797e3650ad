/** What stands before a prompt: the agent, how full the window is, the tangent and how long it has been open. */

import { DEFAULT_AGENT_NAME } from '../../chat/agent-file/agent-file.ts'
import type { ChatSession } from '../../chat.ts'
import { say } from '../language.ts'
import { toTerminalText } from '../view/conversation.ts'
import { paint } from '../view/paint.ts'

/** In percent; from there on the engine proposes a summary. */
const NEARLY_FULL_PERCENT = 75
/** Less than that is tools and notes that go along in any case. */
const MIN_SHOWN_PERCENT = 5

export function promptPrefix(chat: ChatSession): string {
  const { name } = chat.setup.agent
  const tangent = chat.tangent()
  const percent = chat.windowPercent()
  return [
    ...(name === DEFAULT_AGENT_NAME ? [] : [paint.cyan(`[${toTerminalText(name)}]`)]),
    ...(percent >= MIN_SHOWN_PERCENT
      ? [(percent >= NEARLY_FULL_PERCENT ? paint.yellow : paint.dim)(`${percent} %`)]
      : []),
    ...(tangent
      ? [paint.yellow(`↯ ${toTerminalText(tangent.name ?? say('tangent', '脇道'))} ${formatElapsed(tangent.seconds)}`)]
      : []),
    paint.bold('> '),
  ].join(' ')
}

function formatElapsed(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes === 0) return say(`${seconds} s`, `${seconds} 秒`)
  if (minutes < 60) return say(`${minutes} min`, `${minutes} 分`)
  const hours = Math.floor(minutes / 60)
  return say(`${hours} h ${minutes % 60} min`, `${hours} 時間 ${minutes % 60} 分`)
}
