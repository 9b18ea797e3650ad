/** Opens the conversation that was asked for, and holds it with a person or without one. */
import { realpathSync } from 'node:fs'
import type { House } from '../../app.ts'
import { isInside } from '../../chat/tools/files/paths.ts'
import { Trust } from '../../chat/trust/store.ts'
import { warningFor } from '../../chat/trust/wide.ts'
import { endpointFor, type Household, modelsOf, type OpenedTalk, openConversation, recordingIn } from '../../chat.ts'
import { describeConfigProblem, readConfig } from '../../config.ts'
import { dataDirectory, thisMachine } from '../../lib/files/data-directory.ts'
import { printable } from '../../lib/text.ts'
import { AppError } from '../../model/error.ts'
import type { Found } from '../choose.ts'
import type { ChatCommandOptions } from '../commands/chat.ts'
import { inWords } from '../language.ts'
import { writeErr, writeJson, writeOut } from '../output.ts'
import { flagsOfRun } from '../run/flags.ts'

export async function runChat(
  first: string | undefined,
  given: ChatCommandOptions,
  program: string | null,
): Promise<void> {
  const { prompt, options } = apart(first, given)
  refuse(options)
  const household = await householdOfRun()
  if (options.listModels) await listModels(household, options)
  else await talk(household, prompt, options, program)
}

/** `--resume "And now?"`: what has a space in it is no id, but what to say. */
function apart(prompt: string | undefined, options: ChatCommandOptions) {
  const isPrompt = prompt === undefined && typeof options.resume === 'string' && /\s/.test(options.resume)
  if (!isPrompt) return { prompt, options }
  return { prompt: String(options.resume), options: { ...options, resume: true } as const }
}

/** Without the house, which takes its time: what is wrong with the settings of agents is told by who reads their logs. */
async function householdOfRun(): Promise<Household> {
  const environment = thisMachine()
  const config = readConfig(environment, { agents: [], flags: flagsOfRun() })
  for (const problem of config.problems.filter(({ key }) => !/^agents(?:\.|$)/.test(key))) {
    if (problem.where === '--set') throw new AppError('bad_usage', describeConfigProblem(problem))
    await writeErr(`fumi: ${inWords(describeConfigProblem(problem))}\n`)
  }
  return { environment, config }
}

function refuse({ resume, continue: continued, interactive, json }: ChatCommandOptions): void {
  if (resume !== undefined && continued !== undefined)
    throw new AppError(
      'bad_usage',
      '--resume goes on with a conversation of fumibako, --continue with any: give one of them.',
      '--resume は fumibako の会話、--continue は任意の会話を続けます。どちらか一方を指定してください。',
    )
  if (json && interactive)
    throw new AppError(
      'bad_usage',
      '--json goes with --no-interactive.',
      '--json は --no-interactive と一緒に指定してください。',
    )
}

async function listModels(household: Household, options: ChatCommandOptions): Promise<void> {
  const models = await modelsOf(endpointFor(named(options), household))
  if (options.json) await writeJson(models)
  else for (const { id } of models) await writeOut(`${printable(id)}\n`)
}

const named = ({ profile, baseUrl, model }: ChatCommandOptions) => ({
  ...(profile !== undefined && { profile }),
  ...(baseUrl !== undefined && { baseURL: baseUrl }),
  ...(model !== undefined && { model }),
})

async function talk(
  household: Household,
  prompt: string | undefined,
  options: ChatCommandOptions,
  program: string | null,
): Promise<void> {
  const said = options.interactive ? prompt : await wholePrompt(prompt)
  const opened = await open(household, options, program)
  try {
    if (!options.interactive) {
      const { talkAlone } = await import('./alone.ts')
      process.exitCode = await talkAlone(opened, { text: said ?? '', typed: prompt ?? '' }, options.json === true)
    } else {
      const { talkWithPerson } = await import('./person.ts')
      await talkWithPerson(opened, said)
    }
  } finally {
    await opened.close()
  }
}

/** What is piped in goes along with what was typed. */
async function wholePrompt(prompt: string | undefined): Promise<string> {
  const pieces: Buffer[] = []
  if (!process.stdin.isTTY) for await (const piece of process.stdin) pieces.push(piece as Buffer)
  const piped = Buffer.concat(pieces).toString('utf8').trim()
  const said = [prompt ?? '', piped].filter((text) => text !== '').join('\n\n')
  if (said === '')
    throw new AppError(
      'bad_usage',
      'say something: fumi chat --no-interactive "…", or pipe it in.',
      '話す内容がありません。fumi chat --no-interactive "…" のように指定するか、パイプで渡してください。',
    )
  return said
}

async function open(household: Household, options: ChatCommandOptions, program: string | null): Promise<OpenedTalk> {
  const { agent, trustTools, trustAllTools = false, interactive, sandbox, maxRequests, maxTokens } = options
  const recorded = options.replay === undefined ? undefined : await recordingOf(options.replay, options)
  const resume = await resumed(options)
  const cwd = realpathSync(process.cwd())
  const { askTrust, canAsk } = await import('../trust/question.ts')
  const opened = await openConversation(
    {
      ...named(options),
      cwd,
      program,
      attended: interactive,
      trustAll: trustAllTools,
      trusted: (trustTools ?? '').split(',').flatMap((name) => name.trim() || []),
      ...(sandbox !== undefined && { sandbox: sandbox ? 'on' : 'off' }),
      ...(agent !== undefined && { agent }),
      ...(maxRequests !== undefined && { maxRequests }),
      ...(maxTokens !== undefined && { maxTokens }),
      ...(resume !== undefined && { resume }),
      ...(recorded && { recorded }),
      ...(interactive && canAsk() && { askTrust }),
    },
    household,
  )
  rememberDirectory(cwd, household)
  return opened
}

/** The user has started a chat here: the page may continue it here. Directories that are too wide are confirmed there. */
function rememberDirectory(cwd: string, { environment }: Household): void {
  const data = dataDirectory(environment)
  if (warningFor(cwd, { home: environment.home, data })) return
  try {
    new Trust(data).addDirectory(cwd)
  } catch (error) {
    // The chat itself works: the page only asks once more.
    if (!(error instanceof AppError)) throw error
  }
}

async function resumed(options: ChatCommandOptions): Promise<string | null | undefined> {
  if (options.continue !== undefined) return continued(options.continue, options)
  return options.resume === true ? null : options.resume
}

/** Ours is gone on with, and so is the copy that was made of another; else one is made. */
async function continued(name: string, options: ChatCommandOptions): Promise<string> {
  return withLog(name, options, async ({ environment, directory, keep }, { log, id }) => {
    const own = /^fumibako:(.+)$/.exec(id)?.[1]
    if (own !== undefined && isInside(log.source.path, directory)) return own
    const { copyOf } = await import('../../chat/open/find-journal.ts')
    const before = copyOf(directory, id)
    if (before !== undefined) return before
    const { handOver } = await import('../../convert.ts')
    const cwd = realpathSync(process.cwd())
    const from = { agent: log.agent, source: log.source, session: id }
    const { session } = await handOver(from, 'fumibako', { environment, directory, keep, cwd })
    return session.native_id
  })
}

const recordingOf = (name: string, options: ChatCommandOptions): ReturnType<typeof recordingIn> =>
  withLog(name, options, (_, { log, id }) => recordingIn({ agent: log.agent, source: log.source, session: id }))

async function withLog<T>(
  name: string,
  { session }: ChatCommandOptions,
  work: (house: House, found: Found) => Promise<T>,
): Promise<T> {
  const [{ openHouse }, { logNamed }] = await Promise.all([import('../house.ts'), import('../choose.ts')])
  const house = await openHouse()
  try {
    const found = await logNamed(house, name, session === undefined ? {} : { session })
    try {
      return await work(house, found)
    } finally {
      await found.release()
    }
  } finally {
    house.close()
  }
}
