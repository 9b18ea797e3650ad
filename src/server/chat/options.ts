/** With what a conversation can be begun: who answers, in which directory, as which agent. Keys stay here. */

import { realpathSync } from 'node:fs'
import { findAgents, referenceOf } from '../../chat/agent-file/find.ts'
import { COMMANDS } from '../../chat/commands/table.ts'
import { PRESETS, parsedURL } from '../../chat/endpoint/preset.ts'
import { type Endpoint, endpointFor, type Household, modelsOf } from '../../chat.ts'
import type { ChatCommand, ChatOptions, ChatProfile } from '../../model/api/chat.ts'
import { AppError } from '../../model/error.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
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
    throw new ApiProblem(
      'not_possible',
      phrase(
        'A conversation is held in a directory that is among the options.',
        '会話のディレクトリーは、選択肢にあるものから選んでください。',
      ),
    )
  const { agents } = findAgents({ cwd: realpathSync(cwd), home: household.environment.home, data })
  const { trust } = talks
  return {
    profiles: profilesOf(household),
    usual: 'en' in usual ? null : { profile: usual.name, model: usual.model },
    ...(await modelsAt(chosen)),
    agents: agents.map((found) => ({
      name: found.agent.name,
      description: found.agent.description,
      place: found.place,
      reference: referenceOf(found, agents, realpathSync(cwd)),
      trusted: !found.fingerprint || trust.isTrusted(found.fingerprint),
    })),
    directories,
    commands: COMMANDS.map(commandItem),
  }
}

/** Why there is none, where there is none. */
function endpointOf(profile: string | undefined, household: Household): Endpoint | Phrase {
  try {
    return endpointFor(profile === undefined ? {} : { profile }, household)
  } catch (error) {
    if (error instanceof AppError) return error.phrase
    throw error
  }
}

type Models = Pick<ChatOptions, 'models' | 'models_problem' | 'models_problem_ja'>

const noModels = ({ en, ja }: Phrase): Models => ({ models: [], models_problem: en, models_problem_ja: ja })

async function modelsAt(endpoint: Endpoint | Phrase): Promise<Models> {
  if ('en' in endpoint) return noModels(endpoint)
  try {
    const models = (await modelsOf(endpoint)).map(({ id }) => id)
    return { models, models_problem: null, models_problem_ja: null }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { baseURL } = endpoint
    const shown = (text: string): string => text.replaceAll(baseURL, shownURL(baseURL))
    return noModels(phrase(shown(error.phrase.en), shown(error.phrase.ja)))
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
  help: help.en,
  help_ja: help.ja,
  words,
})
