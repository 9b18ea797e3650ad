/** Says what went wrong with a model server, and what to do next. Pure. */
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { ChatError } from '../../openai/chat/transport.ts'
import type { Endpoint } from './endpoint.ts'

export type ServerPlace = Pick<Endpoint, 'name' | 'baseURL' | 'keyFrom'>

interface ErrorContext {
  /** Absent for a recording. */
  readonly place?: ServerPlace | undefined
  readonly model?: string
  /** A part of the answer arrived and is saved. */
  readonly hasPartial?: boolean
  /** False outside of a chat, where no command can be typed. */
  readonly isTurn?: boolean
}

/** The cause, then the next step. Mentions `/retry` only where trying again can help. */
export function explainChatError(error: ChatError, context: ErrorContext): Phrase {
  const text = explain(error, context)
  return context.isTurn === false ? withoutCommands(text) : text
}

/** The next step where no command of a chat can be typed: options and running it again. */
export const withoutCommands = ({ en, ja }: Phrase): Phrase =>
  phrase(
    en
      .replace(/ ?Type \/retry to (?:try|ask) again\.?/, '')
      .replace('Type /retry in', 'Try again in')
      .replace(', then type /retry', '')
      .replace('Type /model for', 'Run fumi chat --list-models for')
      .replace('/model', '--model'),
    ja
      .replace(/\/retry でもう一度送れます。?/, '')
      .replace(/ ?\/retry で送れます/, 'もう一度実行してください')
      .replace('/model でモデルの一覧', 'fumi chat --list-models でモデルの一覧')
      .replace('/model', '--model'),
  )

function explain(error: ChatError, { place, model, hasPartial = false }: ErrorContext): Phrase {
  const host = place ? hostOf(place.baseURL) : 'The model server'
  switch (error.kind) {
    case 'connection':
      return hasPartial ? brokenAnswer(host) : explainConnection(error, host, place)
    case 'timeout':
      return sentences(
        phrase(
          `${host} sent nothing for too long (${error.message})`,
          `${host} から応答がありません（${error.message}）`,
        ),
        hasPartial ? PARTIAL_SAVED : RETRY,
      )
    case 'status':
      return explainStatus(error, { host, place, model })
    case 'garbage':
      return sentences(
        phrase(
          `${host} sent an answer that is not a chat completion: ${error.message}`,
          `${host} の応答を読み取れません（${error.message}）`,
        ),
        hasPartial
          ? PARTIAL_SAVED
          : phrase(
              'Check that the URL ends with /v1, or set profiles.<name>.api to the API of the server',
              'URL が /v1 で終わっているか、profiles.<名前>.api がサーバーの API に合っているか確認してください',
            ),
      )
    case 'aborted':
      return sentences(phrase('Interrupted', '中断しました'))
    case 'rounds':
    case 'unknown':
      return sentences(phrase(error.message, `原因が分かりません（${error.message}）`), RETRY)
  }
}

const RETRY = phrase('Type /retry to try again', '/retry でもう一度送れます')
const CHECK_URL = phrase('Check the URL and the network', 'URL とネットワークを確認してください')
const PARTIAL_SAVED = phrase(
  'What arrived is saved. Type /retry to ask again',
  '届いた部分は保存しました。/retry でもう一度送れます',
)

function sentences(...parts: readonly Phrase[]): Phrase {
  const join = (texts: readonly string[], stop: string, gap: string): string =>
    texts.map((text) => (/[.!?。！？]$/.test(text) ? text : text + stop)).join(gap)
  return phrase(
    join(
      parts.map(({ en }) => en),
      '.',
      ' ',
    ),
    join(
      parts.map(({ ja }) => ja),
      '。',
      '',
    ),
  )
}

const brokenAnswer = (host: string): Phrase =>
  sentences(
    phrase(
      `The connection to ${host} broke before the answer was complete`,
      `応答の途中で ${host} との接続が切れました`,
    ),
    PARTIAL_SAVED,
  )

function explainConnection({ code, message }: ChatError, host: string, place: ServerPlace | undefined): Phrase {
  switch (code) {
    case 'ECONNREFUSED':
      return sentences(
        phrase(
          `Nothing is listening at ${host} (connection refused)`,
          `${host} に接続できません（接続を拒否されました）`,
        ),
        startAdvice(place),
        RETRY,
      )
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return sentences(
        phrase(`The host name ${host} cannot be resolved`, `ホスト名 ${host} が見つかりません`),
        CHECK_URL,
        RETRY,
      )
    case 'bad port':
      return sentences(
        phrase(
          `The port of ${host} is reserved for another protocol, so no request is sent to it`,
          `${host} のポートは別のプロトコル用に予約されているため、接続できません`,
        ),
        phrase(
          'Start the server at another port, or check --base-url',
          'サーバーを別のポートで起動するか、--base-url を確認してください',
        ),
      )
    case 'ECONNRESET':
    case 'UND_ERR_SOCKET':
      return sentences(
        phrase(`${host} closed the connection without an answer`, `${host} が応答せずに接続を閉じました`),
        RETRY,
      )
    default:
      return /CERT|TLS|SSL/i.test(code ?? '')
        ? sentences(
            phrase(
              `The certificate of ${host} is not accepted (${code})`,
              `${host} の証明書を受け付けられません（${code}）`,
            ),
            phrase(
              'If it is your own, set NODE_EXTRA_CA_CERTS to its authority',
              '自前の証明書なら、認証局を NODE_EXTRA_CA_CERTS に指定してください',
            ),
          )
        : sentences(
            phrase(`Cannot reach ${host}: ${message}`, `${host} に接続できません（${message}）`),
            CHECK_URL,
            RETRY,
          )
  }
}

function startAdvice(place: ServerPlace | undefined): Phrase {
  const url = place?.baseURL ?? ''
  if (/:11434\b/.test(url))
    return phrase(
      'Start it with ollama serve, or check --base-url',
      'ollama serve で起動するか、--base-url を確認してください',
    )
  return phrase('Start the server, or check --base-url', 'サーバーを起動するか、--base-url を確認してください')
}

interface StatusContext {
  readonly host: string
  readonly place: ServerPlace | undefined
  readonly model: string | undefined
}

/** Codes and words with which servers say that the account has no credit left. A rate limit is something else. */
const QUOTA = /insufficient_quota|billing|credit balance|exceeded your current quota|payment/i

function explainStatus(error: ChatError, { host, place, model }: StatusContext): Phrase {
  const { status, message } = error
  const said = `${message} (${host}${status === undefined ? '' : `, ${status}`})`
  if (status === 401 || status === 403) {
    const { used, next } = keyAdvice(place)
    return sentences(
      phrase(`${host} rejected ${used.en}: ${message}`, `${host} が${used.ja}を拒否しました（${message}）`),
      next,
    )
  }
  if (status === 402 || QUOTA.test(`${error.code} ${error.type} ${message}`))
    return sentences(
      phrase(`The account of ${host} has no quota left: ${message}`, `${host} の利用枠がありません（${message}）`),
      phrase(
        `Check its plan and billing, use another key (${keyCommand(place)}), or another server with --profile`,
        `契約と請求を確認するか、別のキー（${keyCommand(place)}）または --profile で別のサーバーを使ってください`,
      ),
    )
  if (status === 429)
    return sentences(phrase(`Rate limit: ${said}`, `要求が多すぎます（${said}）`), waitAdvice(error.retryAfterMs))
  if (status === 404)
    return sentences(
      phrase(said, `見つかりません（${said}）`),
      phrase(
        `Type /model for the models of the server${model === undefined ? '' : ` (now ${model})`}, and check that the URL ends with /v1`,
        `/model でモデルの一覧を見られます${model === undefined ? '' : `（今は ${model}）`}。URL が /v1 で終わっているかも確認してください`,
      ),
    )
  return sentences(
    phrase(said, `サーバーがエラーを返しました（${said}）`),
    status !== undefined && status >= 500
      ? RETRY
      : phrase(
          'Change the prompt or the model (/model), then type /retry',
          '依頼かモデル（/model）を変えて、/retry で送れます',
        ),
  )
}

function waitAdvice(milliseconds: number | undefined): Phrase {
  if (milliseconds === undefined) return phrase('Wait a moment, then type /retry', '少し待ってから /retry で送れます')
  const seconds = Math.ceil(milliseconds / 1000)
  return phrase(`Type /retry in ${seconds} s`, `${seconds} 秒後に /retry で送れます`)
}

/** Which key was sent, and where to set it. */
export function keyAdvice(place: ServerPlace | undefined): { readonly used: Phrase; readonly next: Phrase } {
  const next = place?.name
    ? phrase(`Set the key: ${keyCommand(place)}`, `キーの設定：${keyCommand(place)}`)
    : phrase(
        `Set OPENAI_API_KEY, or store the key in a profile (${keyCommand(place)}) and choose it with --profile`,
        `OPENAI_API_KEY を設定するか、プロファイルにキーを保存して（${keyCommand(place)}）--profile で選んでください`,
      )
  const from = place?.keyFrom
  if (from?.kind === 'environment')
    return { used: phrase(`the key in ${from.variable}`, `${from.variable} のキー`), next: setVariable(from.variable) }
  if (from?.kind === 'profile' && from.variable !== null)
    return {
      used: phrase(
        `the key in ${from.variable} (profile ${place?.name})`,
        `${from.variable} のキー（プロファイル ${place?.name}）`,
      ),
      next: setVariable(from.variable),
    }
  if (from?.kind === 'profile')
    return { used: phrase(`the key of profile ${place?.name}`, `プロファイル ${place?.name} のキー`), next }
  return { used: phrase('the request without a key', 'キーのない要求'), next }
}

const setVariable = (variable: string): Phrase =>
  phrase(
    `Set a valid key in ${variable}, then start fumi again`,
    `正しいキーを ${variable} に設定して、fumi を起動し直してください`,
  )

const keyCommand = (place: ServerPlace | undefined): string => `fumi login ${place?.name ?? '<profile>'}`

/** Host and port, without the user name and password that a URL may contain. */
function hostOf(baseURL: string): string {
  try {
    return new URL(baseURL).host
  } catch {
    return baseURL
  }
}
