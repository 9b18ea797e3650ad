/** Opens the conversation that was asked for, and holds it with a person or without one. */
import { realpathSync } from 'node:fs'
import type { House } from '../../app.ts'
import { answersIn, endpointFor, modelsOf, type OpenedTalk, openConversation } from '../../chat.ts'
import { AppError } from '../../model/error.ts'
import type { ChatCommandOptions } from '../commands/chat.ts'
import { openHouse } from '../house.ts'
import { writeOut } from '../output.ts'

export async function runChat(
  prompt: string | undefined,
  options: ChatCommandOptions,
  program: string | null,
): Promise<void> {
  refuse(options)
  const house = await openHouse()
  try {
    if (options.listModels) await listModels(house, options)
    else await talk(house, prompt, options, program)
  } finally {
    house.close()
  }
}

function refuse({ resume, continue: continued, interactive, json }: ChatCommandOptions): void {
  if (resume !== undefined && continued !== undefined)
    throw new AppError(
      'bad_usage',
      '--resume goes on with a conversation of fumibako, --continue with any: give one of them.',
    )
  if (json && interactive) throw new AppError('bad_usage', '--json goes with --no-interactive.')
}

async function listModels(house: House, options: ChatCommandOptions): Promise<void> {
  const config = await house.config()
  const models = await modelsOf(endpointFor(named(options), { environment: house.environment, config }))
  if (options.json) await writeOut(`${JSON.stringify(models)}\n`)
  else for (const { id } of models) await writeOut(`${id}\n`)
}

const named = ({ profile, baseUrl, model }: ChatCommandOptions) => ({
  ...(profile !== undefined && { profile }),
  ...(baseUrl !== undefined && { baseURL: baseUrl }),
  ...(model !== undefined && { model }),
})

async function talk(
  house: House,
  prompt: string | undefined,
  options: ChatCommandOptions,
  program: string | null,
): Promise<void> {
  const said = options.interactive ? prompt : await wholePrompt(prompt)
  const opened = await open(house, options, program)
  try {
    if (!options.interactive) {
      const { talkAlone } = await import('./alone.ts')
      process.exitCode = await talkAlone(opened, said ?? '', options.json === true)
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
  if (said === '') throw new AppError('bad_usage', 'say something: fumi chat --no-interactive "…", or pipe it in.')
  return said
}

async function open(house: House, options: ChatCommandOptions, program: string | null): Promise<OpenedTalk> {
  const config = await house.config()
  const { environment } = house
  const { agent, trustTools, trustAllTools = false, interactive } = options
  const recorded = options.replay === undefined ? undefined : await recordedAnswers(house, options.replay, options)
  const resume = await resumed(house, options)
  return openConversation(
    {
      ...named(options),
      cwd: realpathSync(process.cwd()),
      program,
      attended: interactive,
      trustAll: trustAllTools,
      trusted: (trustTools ?? '').split(',').flatMap((name) => name.trim() || []),
      ...(agent !== undefined && { agent }),
      ...(resume !== undefined && { resume }),
      ...(recorded && { recorded }),
    },
    { environment, config },
  )
}

async function resumed(house: House, options: ChatCommandOptions): Promise<string | null | undefined> {
  if (options.continue !== undefined) return continued(house, options.continue, options)
  return options.resume === true ? null : options.resume
}

/** Converted once, unless it is ours already. */
async function continued(house: House, name: string, options: ChatCommandOptions): Promise<string> {
  const { logNamed } = await import('../choose.ts')
  const { log, id, release } = await logNamed(house, name, sessionOf(options))
  try {
    const { environment, directory, keep } = house
    const own = /^fumibako:(.+)$/.exec(id)?.[1]
    if (own !== undefined && log.source.path.startsWith(directory)) return own
    const { handOver } = await import('../../convert.ts')
    const cwd = realpathSync(process.cwd())
    const from = { agent: log.agent, source: log.source, session: id }
    const { session } = await handOver(from, 'fumibako', { environment, directory, keep, cwd })
    return session.native_id
  } finally {
    await release()
  }
}

async function recordedAnswers(house: House, name: string, options: ChatCommandOptions) {
  const { logNamed } = await import('../choose.ts')
  const { log, id, release } = await logNamed(house, name, sessionOf(options))
  try {
    return await answersIn({ agent: log.agent, source: log.source, session: id })
  } finally {
    await release()
  }
}

const sessionOf = ({ session }: ChatCommandOptions) => (session === undefined ? {} : { session })
