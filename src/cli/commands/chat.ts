/** `fumi chat`: starts or continues a conversation with any OpenAI-compatible server. */
import { type Command, InvalidArgumentError } from 'commander'
import { defineCommand, SESSION_OPTION } from '../define-command.ts'
import { say } from '../language.ts'

export interface ChatCommandOptions {
  readonly profile?: string
  readonly baseUrl?: string
  readonly model?: string
  readonly listModels?: boolean
  readonly interactive: boolean
  readonly resume?: string | true
  readonly continue?: string
  readonly pick?: string | true
  readonly replay?: string
  readonly session?: string
  readonly agent?: string
  readonly trustTools?: string
  readonly trustAllTools?: boolean
  readonly sandbox?: boolean
  readonly json?: boolean
  readonly plain?: boolean
  readonly maxRequests?: number
  readonly maxTokens?: number
  readonly maxSessionTokens?: number
  readonly maxCost?: number
  readonly system?: string
  readonly temperature?: number
  readonly reasoningEffort?: string
  readonly maxOutput?: number
  readonly schema?: string
  readonly fallback?: string
  readonly attach?: readonly string[]
  readonly template?: string
}

export function chatCommand(program: Command): void {
  defineCommand(
    program,
    'chat',
    'chat with a model, or continue any conversation',
    'モデルと会話する。既存の会話を続けることもできる',
  )
    .argument('[prompt]', 'first prompt', '最初の依頼')
    .group('Server', 'サーバー')
    .option(
      '--base-url <url>',
      'URL of the server, including /v1 (default: FUMI_BASE_URL)',
      'サーバーの URL。/v1 まで含める（既定: FUMI_BASE_URL）',
    )
    .option(
      '--model <name>',
      'model to use (default: FUMI_MODEL, the model of the profile, or the first of the server)',
      '使うモデル（既定: FUMI_MODEL、プロファイルのモデル、サーバーの最初のモデルの順）',
    )
    .option(
      '--profile <name>',
      'server profile: openai, anthropic, ollama, llamacpp, lmstudio, vllm, or one from fumi config',
      'サーバーのプロファイル: openai、anthropic、ollama、llamacpp、lmstudio、vllm、または fumi config で追加したもの',
    )
    .option('--list-models', 'list the models of the server and exit', 'サーバーのモデルを一覧表示して終了')
    .option(
      '--fallback <models>',
      'models that answer when the model cannot; comma-separated (default: profiles.<name>.fallback)',
      'モデルが応答できないときに代わるモデル。コンマ区切り（既定: profiles.<名前>.fallback）',
    )
    .group('Answer', '応答')
    .option(
      '--system <text>',
      'system message; @file reads it from a file',
      'システムメッセージ。@ファイル でファイルから読む',
    )
    .option('--temperature <n>', 'randomness of the answer, from 0 to 2', '応答のばらつき（0～2）', {
      parse: parseTemperature,
    })
    .option(
      '--reasoning-effort <level>',
      'how much the model reasons, such as low, medium, high',
      'モデルがどれだけ考えるか（low、medium、high など）',
      { choices: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] },
    )
    .option('--max-output <tokens>', 'longest answer, in tokens', '応答の最大トークン数', { parse: parseCount })
    .option(
      '--schema <file>',
      'JSON Schema of the answer; with -p, the answer is checked and asked for again if it does not fit',
      '応答の JSON Schema。-p では応答を検査し、合わなければ求め直す',
    )
    .group('Prompt', '依頼')
    .option(
      '-a, --attach <file>',
      'attach an image, a PDF or a text to the first prompt; repeatable',
      '最初の依頼に画像・PDF・テキストを添付。繰り返し指定できる',
      { isRepeatable: true },
    )
    .option(
      '-t, --template <name>',
      'put the prompt into a saved prompt, or review, commit, explain, summarize, test',
      '依頼を登録した文章に入れる。review、commit、explain、summarize、test もある',
    )
    .group('Conversation', '会話')
    .option(
      '--resume [id]',
      'resume a conversation (default: the last one in this directory)',
      '会話を再開（既定: このディレクトリーの最後の会話）',
    )
    .option(
      '--continue <session>',
      'continue a session of any agent in a copy',
      '任意のエージェントの会話を、コピーして続ける',
    )
    .option(
      '--pick [words]',
      'choose a session of any agent from a list, narrowed by words, and continue it',
      'どのエージェントの会話でも、一覧から（語で絞り込んで）選んで続ける',
    )
    .option(
      '--replay <session>',
      'replay the answers of a recorded session, without a server',
      '記録された会話の応答を、サーバーなしで再生',
    )
    .option(...SESSION_OPTION)
    .group('Tools', 'ツール')
    .option(
      '--agent <name>',
      'agent to use (instructions, tools, files, hooks), by name or file',
      '使うエージェント（指示・ツール・ファイル・フック）。名前またはファイル',
    )
    .option(
      '--trust-tools <names>',
      'run these tools without asking; comma-separated',
      'これらのツールを確認なしで実行（コンマ区切り）',
    )
    .option(
      '--trust-all-tools',
      'run all tools without asking, except those that the agent denies',
      'エージェントが禁じるものを除き、すべてのツールを確認なしで実行',
    )
    .option(
      '--sandbox',
      'refuse commands if no sandbox is available (default: chat.sandbox)',
      'サンドボックスを使えないときはコマンドを実行しない（既定: chat.sandbox）',
    )
    .option(
      '--no-sandbox',
      'run commands without a sandbox, with network and your permissions',
      'サンドボックスなしで、ネットワークと利用者の権限を使ってコマンドを実行',
    )
    .group('Limits', '上限')
    .option(
      '--max-requests <n>',
      'stop a turn after this many requests to the model (default: chat.maxRequests, 50)',
      'モデルへの要求がこの件数になるとターンを停止（既定: chat.maxRequests、50）',
      { parse: parseCount },
    )
    .option(
      '--max-tokens <n>',
      'stop a turn after this many tokens, sent and received (default: chat.maxTokens)',
      '送受信したトークンがこの数になるとターンを停止（既定: chat.maxTokens）',
      { parse: parseCount },
    )
    .option(
      '--max-session-tokens <n>',
      'stop when this chat has used this many tokens (default: chat.maxSessionTokens)',
      'このチャットで使ったトークンがこの数になると停止（既定: chat.maxSessionTokens）',
      { parse: parseCount },
    )
    .option(
      '--max-cost <usd>',
      'stop when this chat has cost this many US dollars (default: chat.maxCost)',
      'このチャットの費用がこの米ドル額になると停止（既定: chat.maxCost）',
      { parse: parseCost },
    )
    .group('Output', '出力')
    .option(
      '-p, --no-interactive',
      'send one prompt, print the answer and exit; the exit code shows the outcome',
      '依頼を 1 つ送り、応答を表示して終了。結果は終了コードで分かる',
    )
    .option(
      '--plain',
      'for screen readers: lines of text only, without colours, status line and redrawing',
      'スクリーンリーダー向け。色・状態行・再描画なしで、行だけを出力',
    )
    .option(
      '--json',
      'with --no-interactive, print events as JSON, one per line',
      '--no-interactive と使い、イベントを 1 行ずつ JSON で出力',
    )
    .examples(
      'fumi chat --base-url http://127.0.0.1:11434/v1',
      'fumi chat --profile ollama --model qwen3 "What is in this folder?"',
      'fumi chat --resume',
      'fumi chat --continue codex:019c22d1',
      'git diff | fumi chat -p -t review',
      'fumi chat -p --schema bug.json -a shot.png "Describe the error."',
    )
    .run(async (prompt: string | undefined, options: ChatCommandOptions, command: Command) => {
      // Before anything is loaded that asks whether the terminal has colours.
      if (options.plain) Object.assign(process.env, { TERM: 'dumb', NO_COLOR: '1' })
      const { runChat } = await import('../chat/run-chat.ts')
      await runChat(prompt, options, command.parent?.version() ?? null)
    })
}

function parseCount(text: string): number {
  const count = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count < 1)
    throw new InvalidArgumentError(say('Use a whole number of 1 or more.', '1 以上の整数を指定してください。'))
  return count
}

function parseTemperature(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= 2))
    throw new InvalidArgumentError(say('Use a number from 0 to 2.', '0 から 2 までの数を指定してください。'))
  return value
}

function parseCost(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0)
    throw new InvalidArgumentError(say('Use a number above 0.', '0 より大きい数を指定してください。'))
  return value
}
