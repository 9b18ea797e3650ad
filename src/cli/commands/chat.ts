/** `fumi chat`: a conversation with any OpenAI-compatible server, new or continued. */
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
  readonly replay?: string
  readonly session?: string
  readonly agent?: string
  readonly trustTools?: string
  readonly trustAllTools?: boolean
  readonly sandbox?: boolean
  readonly json?: boolean
  readonly maxRequests?: number
  readonly maxTokens?: number
}

export function chatCommand(program: Command): void {
  defineCommand(
    program,
    'chat',
    'talk with a model, or go on with any conversation',
    'モデルと会話する。既存の会話の続きからも',
  )
    .argument('[prompt]', 'what to say first', '最初に言うこと')
    .option(
      '--base-url <url>',
      'the server, up to and with /v1; else FUMI_BASE_URL',
      'サーバーの URL（/v1 まで）。なければ FUMI_BASE_URL',
    )
    .option(
      '--model <name>',
      'the model; else FUMI_MODEL, else what the profile says, else the first of the server',
      'モデル。なければ FUMI_MODEL、プロファイルの指定、サーバーの最初のモデルの順',
    )
    .option(
      '--profile <name>',
      'a server by name: from fumi config, or openai, ollama, llamacpp, lmstudio, vllm',
      'サーバーの名前。fumi config で決めたもの、または openai、ollama、llamacpp、lmstudio、vllm',
    )
    .option('--list-models', 'list the models of the server, and do nothing else', 'サーバーのモデルの一覧だけを表示')
    .option(
      '--resume [id]',
      'go on with a conversation; without an id the last one of this directory',
      '会話を再開。ID を省くとこのディレクトリーの最後の会話',
    )
    .option(
      '--continue <session>',
      'go on with a session of any agent, as a conversation of its own',
      'どのエージェントの会話でも、写しを作って続ける',
    )
    .option(
      '--replay <session>',
      'answers come from a session that was recorded; no server is asked',
      '記録された会話の応答を再生。サーバーには接続しない',
    )
    .option(...SESSION_OPTION)
    .option(
      '--agent <name>',
      "the agent: its instruction, tools, files and hooks. A name, or the path of a project's file",
      'エージェント（指示、ツール、ファイル、フック）。名前、またはプロジェクトのファイルのパス',
    )
    .option(
      '--trust-tools <names>',
      'tools that run without asking, parted by commas',
      '確認なしで実行してよいツール（コンマ区切り）',
    )
    .option(
      '--trust-all-tools',
      'all tools run without asking; what the agent denies stays denied',
      'すべてのツールを確認なしで実行。エージェントが禁じるものは禁じたまま',
    )
    .option(
      '--sandbox',
      'refuse commands where no sandbox works; else chat.sandbox decides',
      'サンドボックスを使えないときはコマンドを実行しない。指定がなければ chat.sandbox に従う',
    )
    .option(
      '--no-sandbox',
      'run commands without a sandbox: with network, and with your rights',
      'サンドボックスなしでコマンドを実行（ネットワークも、あなたの権限も使える）',
    )
    .option(
      '--max-requests <n>',
      'requests to the model after which a turn stops; else chat.maxRequests (default: 50)',
      'モデルへの要求がこの件数になるとターンを停止。なければ chat.maxRequests（既定: 50）',
      { parse: parseCount },
    )
    .option(
      '--max-tokens <n>',
      'tokens, sent and received, after which a turn stops; else chat.maxTokens',
      '送受信したトークンがこの数になるとターンを停止。なければ chat.maxTokens',
      { parse: parseCount },
    )
    .option(
      '--no-interactive',
      'say the prompt, print the answer, end; the exit code tells how it ended',
      '依頼を送り、応答を表示して終了。結果は終了コードで示す',
    )
    .option(
      '--json',
      'with --no-interactive: every event as a line of JSON',
      '--no-interactive のとき、出来事を 1 行ずつ JSON で出力',
    )
    .examples(
      'fumi chat --base-url http://127.0.0.1:11434/v1',
      'fumi chat --profile ollama --model qwen3 "What is in this folder?"',
      'fumi chat --resume',
      'fumi chat --continue codex:019c22d1',
      'git diff | fumi chat --no-interactive "Write a commit message for this."',
    )
    .run(async (prompt: string | undefined, options: ChatCommandOptions, command: Command) => {
      const { runChat } = await import('../chat/run-chat.ts')
      await runChat(prompt, options, command.parent?.version() ?? null)
    })
}

function parseCount(text: string): number {
  const count = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count < 1)
    throw new InvalidArgumentError(say('It takes a whole number above 0.', '1 以上の整数を指定してください。'))
  return count
}
