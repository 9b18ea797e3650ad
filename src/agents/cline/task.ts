/** What the files beside a task's messages say of it: requests with their tokens and times, directory, title. */
import { basename, dirname, join } from 'node:path'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { isFile } from '../../lib/files/safe-fs.ts'
import { LastResult } from '../../lib/memoize-last.ts'
import { type Fields, fieldsOf, isObject, listOf, nonEmptyStringOf, parseStructure } from '../../lib/unknown-values.ts'
import { validCountOf } from '../../model/checked-numbers.ts'
import { cacheWrites, isZeroUsage, NO_USAGE, type Usage } from '../../model/usage.ts'
import type { Source } from '../agent.ts'
import { originalPathOf } from '../kit/place-message.ts'
import { fileFingerprint } from '../kit/source-file.ts'

export interface Request {
  /** Milliseconds. */
  readonly at: number | undefined
  readonly usage: Usage | undefined
  readonly model: string | undefined
}

export interface Task {
  readonly requests: readonly Request[]
  readonly cwd?: string
  readonly model?: string
  readonly title?: string
  readonly mode?: string
  readonly parent?: string
}

/** A task is asked for once per message. */
const tasks = new LastResult<Task>()

export function taskOf(source: Pick<Source, 'path' | 'shown' | 'bytes'>): Task {
  if (source.bytes) return { requests: [] }
  const path = originalPathOf(source)
  const shown = join(dirname(path), 'ui_messages.json')
  const description = descriptionFile(path)
  const key = [shown, fileFingerprint(shown), description ?? '', description ? fileFingerprint(description) : '']
  return tasks.get(Buffer.from(key.join('\n')), path, () => readTask(shown, description, basename(dirname(path))))
}

/** What the files beside the messages are; their change is a change of the session. */
export function sidePrint({ path }: Pick<Source, 'path'>): string {
  const description = descriptionFile(path)
  return `${fileFingerprint(join(dirname(path), 'ui_messages.json'))}:${description ? fileFingerprint(description) : ''}`
}

/** Roo Code has one for each task, Cline a list of all, and its command line one next to the messages. */
function descriptionFile(path: string): string | undefined {
  const folder = dirname(path)
  return [
    join(folder, 'history_item.json'),
    join(folder, `${basename(folder)}.json`),
    join(dirname(dirname(folder)), 'state', 'taskHistory.json'),
  ].find((file) => file !== path && isFile(file))
}

function readTask(shown: string, description: string | undefined, id: string): Task {
  const requests = listOf(parsedFile(shown)).filter(isObject).flatMap(requestOf)
  const described = description === undefined ? undefined : parsedFile(description)
  const own = Array.isArray(described)
    ? described.find((item): item is Fields => isObject(item) && item['id'] === id)
    : fieldsOf(described)
  if (!own) return { requests }
  const cwd = ['cwdOnTaskInitialization', 'workspace', 'cwd', 'workspaceRoot'].flatMap(
    (key) => nonEmptyStringOf(own[key]) ?? [],
  )[0]
  const model = nonEmptyStringOf(own['modelId']) ?? nonEmptyStringOf(own['model'])
  const title = nonEmptyStringOf(own['title'])
  const mode = nonEmptyStringOf(own['mode'])
  const parent = nonEmptyStringOf(own['parentTaskId'])
  return {
    requests,
    ...(cwd !== undefined && { cwd }),
    ...(model !== undefined && { model }),
    ...(title !== undefined && { title }),
    ...(mode !== undefined && { mode }),
    ...(parent !== undefined && { parent }),
  }
}

function parsedFile(path: string): unknown {
  try {
    return isFile(path) ? parseStructure(readRegularFile(path).toString('utf8')) : undefined
  } catch {
    return undefined
  }
}

/** What the person saw when a request was sent. Its text is JSON, and gets its tokens when the answer is complete. */
function requestOf(shown: Fields): readonly Request[] {
  if (shown['say'] !== 'api_req_started') return []
  const text = nonEmptyStringOf(shown['text'])
  const facts = text === undefined ? undefined : fieldsOf(parseStructure(text))
  const model = nonEmptyStringOf(fieldsOf(shown['modelInfo'])?.['modelId'])
  const at = shown['ts']
  return [{ at: typeof at === 'number' ? at : undefined, usage: facts && usageOf(facts, REQUEST_KEYS), model }]
}

type Keys = readonly [input: string, output: string, write: string, read: string]

const REQUEST_KEYS: Keys = ['tokensIn', 'tokensOut', 'cacheWrites', 'cacheReads']
const METRIC_KEYS: Keys = ['inputTokens', 'outputTokens', 'cacheWriteTokens', 'cacheReadTokens']

export const usageOfMetrics = (metrics: Fields): Usage | undefined => usageOf(metrics, METRIC_KEYS)

/** Input does not include what was read from the cache or written to it. */
function usageOf(facts: Fields, [input, output, write, read]: Keys): Usage | undefined {
  const count = (key: string): number => validCountOf(facts[key]) ?? 0
  const input_tokens = count(input) + count(write) + count(read)
  const usage: Usage = {
    ...NO_USAGE,
    input_tokens,
    cached_input_tokens: count(read),
    ...cacheWrites(count(write), 0),
    output_tokens: count(output),
    total_tokens: input_tokens + count(output),
  }
  return isZeroUsage(usage) ? undefined : usage
}
