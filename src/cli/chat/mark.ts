/** What stands before a prompt: the tangent and how long it has been open, how full the window is. */
import type { Talk } from '../../chat.ts'
import { paint } from '../view/paint.ts'

const WORTH_TELLING = 50

export function promptMark(talk: Talk): string {
  const tangent = talk.tangent()
  const side = tangent ? paint.yellow(`↯ ${tangent.name ?? 'tangent'} ${tangent.seconds} s `) : ''
  const percent = talk.fullness()
  const full = percent >= WORTH_TELLING ? paint.dim(`${percent} % `) : ''
  return `${side}${full}> `
}
