/** What may be said over HTTP: nothing that runs unasked, no file from outside of the conversation's directory. */

import { realpathSync } from 'node:fs'
import { sep } from 'node:path'
import { pathsIn } from '../../chat/attach/attach.ts'
import { Words } from '../../chat/commands/command.ts'
import { keptWords } from '../../chat/prompts/kept.ts'
import { neededPath } from '../../chat/tools/files/paths.ts'
import type { Place } from '../../chat/tools/tool.ts'
import type { Talk } from '../../chat.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'

/** Their words are paths, or stay within the directory when they are taken for one. */
const TAKE_PATHS: ReadonlySet<string> = new Set(['attach', 'context', 'save', 'load'])

/** Why a line is not taken, for a person; nothing when it is. */
export function refusalOf(line: string, talk: Talk): Phrase | undefined {
  const { place } = talk.rig
  if (line.startsWith('!'))
    return phrase(
      'Commands of your own for a shell are run in a terminal. Here the model can be asked for one, and asks you before.',
      '自分でシェルのコマンドを実行するのは端末で行ってください。ここではモデルに頼むと、確認してから実行します。',
    )
  const match = /^\/([^\s/\\.]*)(?:\s([\s\S]*))?$/.exec(line)
  if (!match) return outsideIn(pathsIn(keptWords(talk, line), place), place)
  const words = new Words(match[2] ?? '')
  const name = match[1] ?? ''
  if (name === 'prompts' && words.first === 'get') return refusalOf(`@${words.rest.text.replace(/^@/, '')}`, talk)
  if (name === 'tools') return trustRefusal(words)
  if (!TAKE_PATHS.has(name) || (name === 'context' && words.first !== 'add')) return undefined
  return outsideIn(
    words.all.flatMap((word) => (name === 'load' ? [word, `${word}.json`] : [word])),
    place,
  )
}

function trustRefusal(words: Words): Phrase | undefined {
  if (words.first === 'trust-all') return ONE_BY_ONE
  const isPattern = (word: string): boolean => /[*?]/.test(word) || /^@[^/]*\/?$/.test(word)
  return words.first === 'trust' && words.rest.all.some(isPattern) ? ONE_BY_ONE : undefined
}

const ONE_BY_ONE = phrase(
  'On the page tools are trusted one by one: when they ask, or by their names.',
  'ページでは、ツールは 1 つずつ許可します。確認されたときか、名前を指定してください。',
)

function outsideIn(paths: readonly string[], place: Place): Phrase | undefined {
  const outside = paths.find((path) => !isWithin(path, place))
  if (outside === undefined) return undefined
  return phrase(
    `${outside} lies outside of ${place.cwd}, and stays there.`,
    `${outside} は ${place.cwd} の外にあるため、ここでは使えません。`,
  )
}

/** Once links are followed. A pattern lies where it begins to be one. */
export function isWithin(path: string, place: Place): boolean {
  const { real } = neededPath(path, place)
  const folder = realpathSync(place.cwd)
  return real === folder || real.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}
