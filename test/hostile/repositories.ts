/** Repositories that try to run a command, in each way that git offers, made with real git. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { tempFolder } from '../support/codex-log.ts'

/** Contains a project, and a folder in which each executed command leaves a file. */
export class Trap {
  readonly root = tempFolder()
  readonly project = join(this.root, 'project')
  readonly #marks = join(this.root, 'marks')

  constructor() {
    for (const folder of [this.project, this.#marks]) mkdirSync(folder)
  }

  /** A shell command that creates a marker file. */
  mark(name: string): string {
    return `touch '${join(this.#marks, name)}'`
  }

  /** Names of the commands that ran. */
  sprung(): readonly string[] {
    return readdirSync(this.#marks).sort()
  }

  reset(): void {
    for (const name of this.sprung()) rmSync(join(this.#marks, name))
  }

  write(path: string, text: string, mode = 0o644): string {
    const full = join(this.root, path)
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, text)
    chmodSync(full, mode)
    return full
  }

  /** Runs git like a user who trusts the repository. */
  git(folder: string, ...args: readonly string[]): string {
    const safe = ['user.name=t', 'user.email=t@t', 'protocol.file.allow=always'].flatMap((one) => ['-c', one])
    return execFileSync('git', [...safe, ...args], {
      cwd: join(this.root, folder),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  /** A repository with two commits, an ignored file and an untracked one. */
  repository(folder: string): void {
    mkdirSync(join(this.root, folder), { recursive: true })
    this.git(folder, 'init', '-q')
    this.write(`${folder}/a.txt`, 'x one\n')
    this.write(`${folder}/sub/b.txt`, 'x two\n')
    this.write(`${folder}/.gitignore`, '*.log\n')
    this.git(folder, 'add', '-A')
    this.git(folder, 'commit', '-qm', 'first')
    this.write(`${folder}/c.txt`, 'x three\n')
    this.write(`${folder}/d.log`, 'x four\n')
  }

  /** Adds all settings and hooks that start a program, and attributes that use them. */
  arm(folder: string, gitDir: string): void {
    const config = join(this.root, gitDir, 'config')
    writeFileSync(config, `${readFileSync(config, 'utf8')}${this.settings(gitDir)}`)
    for (const name of HOOKS)
      this.write(`${gitDir}/evil-hooks/${name}`, `#!/bin/sh\n${this.mark(`hook-${name}`)}\n`, 0o755)
    this.attributes(folder)
    this.age(folder)
  }

  settings(gitDir: string): string {
    const run = (name: string): string => JSON.stringify(`${this.mark(name)}; false`)
    const helper = (name: string): string => JSON.stringify(`!${this.mark(name)}`)
    const filter = (name: string): string => JSON.stringify(`${this.mark(name)}; cat`)
    return `
[core]
  fsmonitor = ${run('fsmonitor')}
  hooksPath = ${JSON.stringify(join(this.root, gitDir, 'evil-hooks'))}
  pager = ${run('pager')}
  editor = ${run('editor')}
  askPass = ${run('askpass')}
  sshCommand = ${run('ssh')}
  gitProxy = ${run('proxy')}
  alternateRefsCommand = ${run('alternate-refs')}
  preloadIndex = true
[alias]
  ls-files = ${helper('alias-ls-files')}
  status = ${helper('alias-status')}
  evil = ${helper('alias-evil')}
[credential]
  helper = ${helper('credential')}
[diff]
  external = ${run('diff-external')}
[diff "evil"]
  command = ${run('diff-command')}
  textconv = ${run('textconv')}
[merge "evil"]
  driver = ${run('merge')}
[filter "evil"]
  clean = ${filter('filter-clean')}
  smudge = ${filter('filter-smudge')}
  required = true
[filter "long"]
  process = ${run('filter-process')}
[gpg]
  program = ${run('gpg')}
[commit]
  gpgSign = true
[log]
  showSignature = true
[uploadpack]
  packObjectsHook = ${run('pack-objects')}
[submodule]
  recurse = true
[status]
  submoduleSummary = true
[protocol "ext"]
  allow = always
[remote "far"]
  url = ${JSON.stringify(`ext::sh -c ${this.mark('ext').replaceAll(' ', '% ')}`)}
  promisor = true
  uploadpack = ${run('uploadpack')}
`
  }

  attributes(folder: string): void {
    this.write(`${folder}/.gitattributes`, '* filter=evil diff=evil merge=evil\n*.txt ident text\nlong.* filter=long\n')
    this.write(`${folder}/long.txt`, 'x long\n')
  }

  /** Changes file times, because git reads a file only if its size or times changed. */
  age(folder: string): void {
    this.write(`${folder}/a.txt`, 'x ONE\n')
  }

  move(from: string, to: string): void {
    mkdirSync(dirname(join(this.root, to)), { recursive: true })
    renameSync(join(this.root, from), join(this.root, to))
  }

  link(target: string, path: string): void {
    symlinkSync(target, join(this.root, path))
  }
}

const HOOKS = [
  'post-index-change',
  'reference-transaction',
  'pre-commit',
  'prepare-commit-msg',
  'commit-msg',
  'post-commit',
  'post-checkout',
  'post-rewrite',
  'pre-auto-gc',
  'fsmonitor-watchman',
]

/** A folder that git treats as a repository when run in it. */
export function lookalike(trap: Trap, folder: string): void {
  trap.write(`${folder}/HEAD`, 'ref: refs/heads/main\n')
  trap.write(`${folder}/refs/heads/.keep`, '')
  trap.write(`${folder}/objects/info/.keep`, '')
  const settings = [
    'repositoryformatversion = 0',
    'bare = false',
    'worktree = "."',
    `fsmonitor = "${trap.mark('lookalike')}; false"`,
  ]
  trap.write(`${folder}/config`, `[core]\n${settings.map((one) => `\t${one}\n`).join('')}`)
  trap.write(`${folder}/guide.md`, 'x marks the spot\n')
}

export interface Attack {
  readonly name: string
  make(trap: Trap): void
  /** Directory of the chat and search folder of tools, relative to the root. */
  readonly cwd?: string
  readonly folders?: readonly string[]
  /** A git command that triggers the trap, to prove that it works. */
  readonly control: readonly [folder: string, ...args: readonly string[]]
}

export const ATTACKS: readonly Attack[] = [
  {
    name: 'a hostile .git/config',
    make(trap) {
      trap.repository('project')
      trap.arm('project', 'project/.git')
    },
    folders: ['sub'],
    control: ['project', 'status'],
  },
  {
    name: 'a hostile file that .git/config includes, and settings of the work tree',
    make(trap) {
      trap.repository('project')
      const settings = trap.write('project/docs/settings', trap.settings('project/.git'))
      trap.git('project', 'config', 'include.path', settings)
      trap.git('project', 'config', 'includeIf.gitdir:**.path', settings)
      trap.git('project', 'config', 'extensions.worktreeConfig', 'true')
      trap.write('project/.git/config.worktree', trap.settings('project/.git'))
      trap.attributes('project')
      trap.age('project')
    },
    control: ['project', 'status'],
  },
  {
    name: 'a cloned folder that looks like a repository',
    make(trap) {
      trap.repository('origin')
      lookalike(trap, 'origin/docs')
      trap.git('origin', 'add', '-A')
      trap.git('origin', 'commit', '-qm', 'docs')
      rmSync(trap.project, { recursive: true })
      trap.git('.', 'clone', '-q', 'origin', 'project')
    },
    folders: ['docs', 'docs/refs'],
    control: ['project/docs', 'ls-files', '--others'],
  },
  {
    name: 'a folder that looks like a repository, in which the chat is held',
    make(trap) {
      lookalike(trap, 'project/docs')
    },
    cwd: 'project/docs',
    folders: ['refs'],
    control: ['project/docs', 'ls-files', '--others'],
  },
  {
    name: 'a folder above the project that looks like a repository',
    make(trap) {
      lookalike(trap, 'project')
      trap.write('project/inner/a.txt', 'x\n')
    },
    cwd: 'project/inner',
    control: ['project/inner', 'ls-files', '--others'],
  },
  {
    name: 'a submodule with a hostile configuration',
    make(trap) {
      trap.repository('origin')
      trap.repository('project')
      trap.git('project', 'submodule', '--quiet', 'add', join(trap.root, 'origin'), 'sub/module')
      trap.git('project', 'commit', '-qm', 'module')
      trap.arm('project/sub/module', 'project/.git/modules/sub/module')
    },
    folders: ['sub/module', 'sub'],
    control: ['project', 'status'],
  },
  {
    name: 'a repository within the project whose files are all ignored',
    make(trap) {
      trap.repository('project')
      trap.repository('project/inner')
      trap.arm('project/inner', 'project/inner/.git')
      trap.write('project/inner/.gitignore', '*\n')
    },
    folders: ['inner'],
    control: ['project/inner', 'status'],
  },
  {
    name: 'a .git that names a hostile repository elsewhere in the project',
    make(trap) {
      trap.repository('project')
      trap.move('project/.git', 'project/docs/hidden')
      trap.write('project/.git', 'gitdir: docs/hidden\n')
      trap.arm('project', 'project/docs/hidden')
    },
    folders: ['docs', 'docs/hidden'],
    control: ['project', 'status'],
  },
  {
    name: 'a .git that names a hostile repository outside of the project',
    make(trap) {
      trap.repository('project')
      trap.move('project/.git', 'outside')
      trap.write('project/.git', `gitdir: ${join(trap.root, 'outside')}\n`)
      trap.arm('project', 'outside')
    },
    control: ['project', 'status'],
  },
  {
    name: 'a .git that is a link to a hostile repository',
    make(trap) {
      trap.repository('project')
      trap.move('project/.git', 'project/docs/hidden')
      trap.link('docs/hidden', 'project/.git')
      trap.arm('project', 'project/docs/hidden')
    },
    control: ['project', 'status'],
  },
  {
    name: 'a work tree of a hostile repository',
    make(trap) {
      trap.repository('main')
      rmSync(trap.project, { recursive: true })
      trap.git('main', 'worktree', 'add', '-q', trap.project)
      trap.arm('project', 'main/.git')
    },
    folders: ['sub'],
    control: ['project', 'status'],
  },
  {
    name: 'a repository whose commondir is a hostile one',
    make(trap) {
      trap.repository('project')
      trap.repository('project/docs')
      trap.arm('project/docs', 'project/docs/.git')
      trap.write('project/.git/commondir', '../docs/.git\n')
      trap.attributes('project')
      trap.age('project')
    },
    folders: ['docs'],
    control: ['project', 'status'],
  },
  {
    name: 'a repository that borrows objects of a hostile one, and fetches those that are missing',
    make(trap) {
      trap.repository('project')
      trap.repository('project/other')
      trap.arm('project/other', 'project/other/.git')
      trap.write('project/.git/objects/info/alternates', `${join(trap.root, 'project/other/.git/objects')}\n`)
      trap.arm('project', 'project/.git')
      trap.git('project', 'config', 'extensions.partialClone', 'far')
      trap.git('project', 'config', 'core.repositoryFormatVersion', '1')
      const blob = trap.git('project', '-c', 'core.fsmonitor=', 'rev-parse', 'HEAD:a.txt').trim()
      for (const folder of ['.git', 'other/.git'])
        rmSync(join(trap.project, folder, 'objects', blob.slice(0, 2), blob.slice(2)))
      trap.reset()
    },
    folders: ['other'],
    control: ['project', '-c', 'core.fsmonitor=', 'cat-file', '-p', 'HEAD:a.txt'],
  },
  {
    name: 'a repository above the project',
    make(trap) {
      trap.repository('project')
      trap.arm('project', 'project/.git')
    },
    cwd: 'project/sub',
    control: ['project/sub', 'status'],
  },
]
