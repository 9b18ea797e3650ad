/** Finds journals, and knows one by its first line. */

import { join } from 'node:path'
import { CONVERSATIONS } from '../../conversation/journal/file-name.ts'
import { dataDirectory } from '../../lib/files/data-directory.ts'
import { filesBelow, headOf, isFolder } from '../../lib/files/look.ts'
import { phrase } from '../../model/phrase.ts'
import type { Description, Environment, Source } from '../agent.ts'

export const AGENT_ID = 'fumibako'

export const roots = (environment: Environment): readonly string[] => [join(dataDirectory(environment), CONVERSATIONS)]

/** The header; where its line was damaged, any other event. */
const OPENING = /^\uFEFF?\s*\{"(?:journal":\d+,"event":"opened"|event":"[a-z_]+","at":"\d{4}-)/

export const recognise = (head: Uint8Array): boolean => OPENING.test(beginning(head))

export function describe(head: Uint8Array): Description | undefined {
  return recognise(head)
    ? { format: 'journal', why: phrase('lines with event and at', 'event と at を持つ行') }
    : undefined
}

const LINE = 200
const LINES = 3

/** The first lines, each as far as it takes to know it. */
function beginning(head: Uint8Array): string {
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 1 << 14)).toString('utf8')
  return text.split('\n', LINES).find((line) => OPENING.test(line.slice(0, LINE))) ?? ''
}

export async function* find(root: string): AsyncGenerator<Source> {
  if (!isFolder(root)) yield { agent: AGENT_ID, path: root }
  else
    for (const path of filesBelow(root, /\.jsonl$/i)) if (recognise(headOf(path))) yield { agent: AGENT_ID, path, root }
}
