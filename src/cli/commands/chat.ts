/** `fumi chat`: a conversation with any OpenAI-compatible server, new or gone on with. */
import type { Command } from 'commander'

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
  readonly json?: boolean
}

export function chatCommand(program: Command): void {
  program
    .command('chat')
    .summary('talk with a model, or go on with any conversation')
    .argument('[prompt]', 'what to say first')
    .option('--base-url <url>', 'the server, up to and with /v1; else FUMI_BASE_URL')
    .option('--model <name>', 'the model; else FUMI_MODEL, else what the profile says, else the first of the server')
    .option('--profile <name>', 'a server by name: from fumi config, or openai, ollama, llamacpp, lmstudio, vllm')
    .option('--list-models', 'list the models of the server, and do nothing else')
    .option('--resume [id]', 'go on with a conversation; without an id the last one of this directory')
    .option('--continue <session>', 'go on with a session of any agent, as a conversation of its own')
    .option('--replay <session>', 'answers come from a session that was recorded; no server is asked')
    .option('--session <which>', 'one of several conversations in a file: its number, or its id')
    .option('--agent <name>', 'the agent: its instruction, tools, files and hooks')
    .option('--trust-tools <names>', 'tools that run without asking, parted by commas')
    .option('--trust-all-tools', 'all tools run without asking; what the agent denies stays denied')
    .option('--no-interactive', 'say the prompt, print the answer, end; the exit code tells how it ended')
    .option('--json', 'with --no-interactive: every event as a line of JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  fumi chat --base-url http://127.0.0.1:11434/v1\n  fumi chat --profile ollama --model qwen3 "What is in this folder?"\n  fumi chat --resume\n  fumi chat --continue codex:019c22d1\n  git diff | fumi chat --no-interactive "Write a commit message for this."',
    )
    .action(async (prompt: string | undefined, options: ChatCommandOptions, command: Command) => {
      const { runChat } = await import('../chat/run.ts')
      await runChat(prompt, options, command.parent?.version() ?? null)
    })
}
