/** With what a conversation can be begun: who answers, in which directory, as which agent. Keys stay here. */

import { findAgents } from '../../chat/agent-file/find.ts'
import { COMMANDS } from '../../chat/commands/table.ts'
import { PRESETS, parsedURL } from '../../chat/endpoint/preset.ts'
import { type Endpoint, endpointFor, type Household, modelsOf } from '../../chat.ts'
import type { ChatCommand, ChatOptions, ChatProfile } from '../../model/api/chat.ts'
import { AppError } from '../../model/error.ts'
import { ApiProblem } from '../problem.ts'
import type { Talks } from './talks.ts'

export interface OptionsWanted {
  readonly profile: string | undefined
  readonly directory: string | undefined
}

export async function optionsOf(talks: Talks, data: string, wanted: OptionsWanted): Promise<ChatOptions> {
  const household = talks.household()
  const usual = endpointOf(undefined, household)
  const chosen = wanted.profile === undefined ? usual : endpointOf(wanted.profile, household)
  const directories = talks.directories()
  const cwd = wanted.directory ?? talks.cwd
  if (!directories.some(({ path }) => path === cwd))
    throw new ApiProblem('not_possible', 'A conversation is held in a directory that is among the options.')
  return {
    profiles: profilesOf(household),
    usual: typeof usual === 'string' ? null : { profile: usual.name, model: usual.model },
    ...(await modelsAt(chosen)),
    agents: findAgents({ cwd, home: household.environment.home, data }).agents.map(({ agent, place }) => ({
      name: agent.name,
      description: agent.description,
      place,
    })),
    directories,
    commands: COMMANDS.map(commandItem),
  }
}

/** Why there is none, where there is none. */
function endpointOf(profile: string | undefined, household: Household): Endpoint | string {
  try {
    return endpointFor(profile === undefined ? {} : { profile }, household)
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
}

async function modelsAt(endpoint: Endpoint | string): Promise<Pick<ChatOptions, 'models' | 'models_problem'>> {
  if (typeof endpoint === 'string') return { models: [], models_problem: endpoint }
  try {
    return { models: (await modelsOf(endpoint)).map(({ id }) => id), models_problem: null }
  } catch (error) {
    const { baseURL } = endpoint
    if (error instanceof AppError)
      return { models: [], models_problem: error.message.replaceAll(baseURL, shownURL(baseURL)) }
    throw error
  }
}

function profilesOf({ config }: Household): readonly ChatProfile[] {
  const own = Array.from(config.profiles, ([name, { url, server }]) => {
    const preset = Object.values(PRESETS).find((one) => one.server === server || one.server === name)
    return { name, url: shownURL(url ?? preset?.baseURL ?? ''), own: true }
  })
  const known = Object.entries(PRESETS).map(([name, { baseURL }]) => ({ name, url: shownURL(baseURL), own: false }))
  return [...own, ...known.filter(({ name }) => !config.profiles.has(name))]
}

/** A name and a password may stand in it, or a key behind it. */
function shownURL(text: string): string {
  const url = parsedURL(text)
  return url ? `${url.protocol}//${url.host}${url.pathname}` : ''
}

const commandItem = ({ name, aliases = [], args, help, words = [] }: (typeof COMMANDS)[number]): ChatCommand => ({
  name,
  aliases,
  args,
  help,
  words,
})
