/** The choices for a new chat: models, directories, agents. Never a key. */
import { realpathSync } from 'node:fs'
import { agentReference, findAgents } from '../../chat/agent-file/find-agents.ts'
import { CHAT_COMMANDS } from '../../chat/commands/command-list.ts'
import { PRESETS, parseHttpURL } from '../../chat/endpoint/endpoint.ts'
import { type ChatConfig, type Endpoint, fetchModels, resolveEndpoint } from '../../chat/open/open-chat.ts'
import type { ChatCommand, ChatOptions, ChatProfile } from '../../model/api/chat.ts'
import { AppError } from '../../model/error.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../api-problem.ts'
import type { OpenChats } from './open-chats.ts'

interface ChatOptionsRequest {
  readonly profile: string | undefined
  readonly directory: string | undefined
}

export async function readChatOptions(
  chats: OpenChats,
  data: string,
  wanted: ChatOptionsRequest,
): Promise<ChatOptions> {
  const chatConfig = chats.readChatConfig()
  const defaultEndpoint = resolveProfile(undefined, chatConfig)
  const chosen = wanted.profile === undefined ? defaultEndpoint : resolveProfile(wanted.profile, chatConfig)
  const directories = chats.directories()
  const cwd = wanted.directory ?? chats.cwd
  if (!directories.some(({ path }) => path === cwd))
    throw new ApiProblem(
      'not_possible',
      phrase(
        'Unknown directory. Choose one of the listed directories.',
        '選択肢にないディレクトリーです。選択肢にあるものから選んでください。',
      ),
    )
  const { agents } = findAgents({ cwd: realpathSync(cwd), home: chatConfig.environment.home, data })
  const { trust } = chats
  return {
    profiles: profilesOf(chatConfig),
    usual: 'en' in defaultEndpoint ? null : { profile: defaultEndpoint.name, model: defaultEndpoint.model },
    ...(await fetchModelNames(chosen)),
    agents: agents.map((found) => ({
      name: found.agent.name,
      description: found.agent.description,
      place: found.place,
      reference: agentReference(found, agents, realpathSync(cwd)),
      trusted: !found.fingerprint || trust.isTrusted(found.fingerprint),
    })),
    directories,
    commands: CHAT_COMMANDS.map(commandItem),
  }
}

/** Why no profile is available. */
function resolveProfile(profile: string | undefined, chatConfig: ChatConfig): Endpoint | Phrase {
  try {
    return resolveEndpoint(profile === undefined ? {} : { profile }, chatConfig)
  } catch (error) {
    if (error instanceof AppError) return error.phrase
    throw error
  }
}

type ModelsResult = Pick<ChatOptions, 'models' | 'models_problem' | 'models_problem_ja'>

const modelsProblem = ({ en, ja }: Phrase): ModelsResult => ({ models: [], models_problem: en, models_problem_ja: ja })

async function fetchModelNames(endpoint: Endpoint | Phrase): Promise<ModelsResult> {
  if ('en' in endpoint) return modelsProblem(endpoint)
  try {
    const models = (await fetchModels(endpoint)).map(({ id }) => id)
    return { models, models_problem: null, models_problem_ja: null }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { baseURL } = endpoint
    const withPublicURL = (text: string): string => text.replaceAll(baseURL, publicURL(baseURL))
    return modelsProblem(phrase(withPublicURL(error.phrase.en), withPublicURL(error.phrase.ja)))
  }
}

function profilesOf({ config }: ChatConfig): readonly ChatProfile[] {
  const own = Array.from(config.profiles, ([name, { url, server }]) => {
    const preset = Object.values(PRESETS).find((one) => one.server === server || one.server === name)
    return { name, url: publicURL(url ?? preset?.baseURL ?? ''), own: true }
  })
  const known = Object.entries(PRESETS).map(([name, { baseURL }]) => ({ name, url: publicURL(baseURL), own: false }))
  return [...own, ...known.filter(({ name }) => !config.profiles.has(name))]
}

/** A URL may contain a password, or a key in its query. */
function publicURL(text: string): string {
  const url = parseHttpURL(text)
  return url ? `${url.protocol}//${url.host}${url.pathname}` : ''
}

const commandItem = ({ name, aliases = [], args, help, words = [] }: (typeof CHAT_COMMANDS)[number]): ChatCommand => ({
  name,
  aliases,
  args,
  help: help.en,
  help_ja: help.ja,
  words,
})
