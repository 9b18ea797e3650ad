/** What stands before a prompt: the agent, how full the window is, the tangent and how long it has been open. */

import { DEFAULT_AGENT_NAME } from '../../chat/agent-file/agent-file.ts'
import type { Talk } from '../../chat.ts'
import { say } from '../language.ts'
import { safe } from '../view/conversation.ts'
import { paint } from '../view/paint.ts'

/** In percent; from there on the engine proposes a summary. */
const NEARLY_FULL = 75
/** Less than that is tools and notes that go along in any case. */
const WORTH_TELLING = 5

export function promptMark(talk: Talk): string {
  const { name } = talk.rig.agent
  const tangent = talk.tangent()
  const percent = talk.fullness()
  return [
    ...(name === DEFAULT_AGENT_NAME ? [] : [paint.cyan(`[${safe(name)}]`)]),
    ...(percent >= WORTH_TELLING ? [(percent >= NEARLY_FULL ? paint.yellow : paint.dim)(`${percent} %`)] : []),
    ...(tangent ? [paint.yellow(`↯ ${safe(tangent.name ?? say('tangent', '脇道'))} ${lasted(tangent.seconds)}`)] : []),
    paint.bold('> '),
  ].join(' ')
}

function lasted(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes === 0) return say(`${seconds} s`, `${seconds} 秒`)
  if (minutes < 60) return say(`${minutes} min`, `${minutes} 分`)
  const hours = Math.floor(minutes / 60)
  return say(`${hours} h ${minutes % 60} min`, `${hours} 時間 ${minutes % 60} 分`)
}
