/** Texts of the dialogs for directories and for trust in a project's file. */
import { bilingualTexts } from './language.svelte.ts'

export const say = bilingualTexts({
  directoryTitle: ['Choose the directory', 'ディレクトリーを選択'],
  directoryWhy: [
    'In a chat, files below its directory are read without asking.',
    '会話では、ディレクトリーの下のファイルが確認なしに読み取られます。',
  ],
  froms: {
    log: [
      'The log of this session names the directory below. fumibako cannot know whether that is true.',
      'この会話のログには次のディレクトリーが記録されていますが、正しいかどうかは fumibako には分かりません。',
    ],
    journal: [
      'This session names the directory below, but you have not chatted there yet.',
      'この会話には次のディレクトリーが記録されていますが、そこで会話したことはまだありません。',
    ],
    request: ['This directory is wider than a project.', 'このディレクトリーは、1 つのプロジェクトより広い範囲です。'],
  },
  suggested: ['Suggested, not confirmed', '候補（未確認）'],
  unusable: [
    'There is no such directory on this machine. Choose another one.',
    'このマシンにそのディレクトリーはありません。別のディレクトリーを選んでください。',
  ],
  other: ['Another directory', '別のディレクトリー'],
  choose: ['Choose…', '選択してください'],
  warnings: {
    root: [
      'This is the root of the file system: the model could read every file on this machine.',
      'ファイルシステムの最上位です。モデルがこのマシンのすべてのファイルを読めるようになります。',
    ],
    home: [
      'This is your home directory: the model could read all your files, keys and settings.',
      'ホームディレクトリーです。モデルがすべてのファイル、鍵、設定を読めるようになります。',
    ],
    above_home: [
      'This directory contains your home directory: the model could read all your files.',
      'ホームディレクトリーを含んでいます。モデルがすべてのファイルを読めるようになります。',
    ],
    data: [
      'This directory contains the data of fumibako, with all your sessions.',
      'fumibako のデータ（すべての会話）が入っているディレクトリーです。',
    ],
    settings: [
      'This directory contains settings, and often passwords or keys.',
      '設定のディレクトリーです。パスワードや鍵が入っていることがあります。',
    ],
    system: [
      'This is a top-level directory of the system, not a project.',
      'システムの最上位のディレクトリーで、プロジェクトではありません。',
    ],
  },
  sure: ['Chat in this directory anyway', 'それでもこのディレクトリーで会話する'],
  use: ['Use this directory', 'このディレクトリーを使う'],
  cancel: ['Cancel', 'キャンセル'],
  trustTitle: ['Trust this file?', 'このファイルを信頼しますか？'],
  trustAgent: (name: string) => [
    `The agent ${name} of this project can run commands on this machine.`,
    `このプロジェクトのエージェント ${name} は、このマシンでコマンドを実行できます。`,
  ],
  trustServers: [
    'The MCP servers of this project can run commands on this machine.',
    'このプロジェクトの MCP サーバーは、このマシンでコマンドを実行できます。',
  ],
  trustFile: ['File', 'ファイル'],
  trustOnly: [
    'Trust it only if you know who wrote it. You are asked again when the file changes.',
    '作成者が分かっている場合にだけ信頼してください。ファイルが変わると、もう一度確認します。',
  ],
  changed: ['The file has changed since you trusted it.', '信頼した後にファイルが変更されています。'],
  nothing: ['This file runs nothing and allows nothing by itself.', '実行するものも、許可するものもありません。'],
  kinds: {
    hook: ['Runs by itself (hook)', '自動で実行（フック）'],
    server: ['Starts (MCP server)', '起動（MCP サーバー）'],
    env: ['Sets a variable or header for', '変数・ヘッダーを設定'],
    allowed: ['Tools that run without asking', '確認なしに動くツール'],
    setting: ['Setting', '設定'],
    alias: ['Renames a tool to', 'ツールの別名'],
    prompt: ['Instruction to the model', 'モデルへの指示'],
  },
  cut: (count: number) => [
    `${count.toLocaleString('en')} more characters: read the file before you trust it.`,
    `あと ${count.toLocaleString('ja')} 文字あります。信頼する前にファイルを読んでください。`,
  ],
  left: (count: number) => [
    `${count.toLocaleString('en')} more items are not shown: read the file before you trust it.`,
    `ほかに ${count.toLocaleString('ja')} 件あります。信頼する前にファイルを読んでください。`,
  ],
  trust: ['Trust this file', 'このファイルを信頼する'],
  refuse: ['Do not trust', '信頼しない'],
  ofProject: ['project', 'プロジェクト'],
  untrusted: ['project, not trusted yet', 'プロジェクト、未信頼'],
})
