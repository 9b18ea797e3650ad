/**
 * The background service under a real systemd user manager: one that this test starts for itself, in a namespace with
 * its own `/run`, so that a manager of the user is never touched.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder, text } from '../support/codex-log.ts'
import { logOf, threadOf } from '../support/many-logs.ts'
import { fumiPath } from '../support/run-fumi.ts'
import { rollout } from '../support/test-home.ts'

const MANAGER = ['/usr/lib/systemd/systemd', '/lib/systemd/systemd'].find((path) => existsSync(path))

const inNamespace = (script: string, env: Readonly<Record<string, string>> = {}) =>
  spawnSync('unshare', ['--mount', '--pid', '--fork', '--mount-proc', 'bash', '-c', script], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], ...env },
    timeout: 120_000,
  })

/** Its programs tell whether they run under systemd by this folder. */
const START_MANAGER = `
set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system /run/user
chmod 700 /run/user
export XDG_RUNTIME_DIR=/run/user DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/bus
dbus-daemon --session --address=$DBUS_SESSION_BUS_ADDRESS --nofork --nopidfile &
for n in $(seq 200); do [ -S /run/user/bus ] && break; sleep 0.05; done
${MANAGER} --user --log-target=null &
for n in $(seq 200); do systemctl --user list-units >/dev/null 2>&1 && break; sleep 0.05; done
systemctl --user list-units >/dev/null`

test.skipIf(process.platform !== 'linux')(
  'systemd runs the installed service, which backs up a log from first sight; it restarts, and uninstalls',
  (context) => {
    const home = tempFolder()
    const codex = join(home, 'a "quoted" $HOME %h \\ codex')
    const fumi = `node ${JSON.stringify(fumiPath)}`
    const env = { HOME: home, FUMI_HOME: join(home, 'fumi'), FUMI_KEEP: 'all', CODEX_HOME: codex }
    if (MANAGER === undefined || inNamespace(START_MANAGER, env).status !== 0) {
      console.log('skipped: no systemd user manager can be started here')
      context.skip()
    }
    const log = join(codex, rollout(threadOf(1)).replace('.codex/', ''))
    mkdirSync(join(log, '..'), { recursive: true })
    writeFileSync(`${log}.later`, text(logOf(1, 20)))
    const { stdout, stderr, status } = inNamespace(
      `${START_MANAGER}
      ${fumi} service install --json
      main() { systemctl --user show fumibako-backup --value -p "$1"; }
      mv "$LOG.later" "$LOG"
      for n in $(seq 60); do ${fumi} backup --status --json | grep -q '"items":1' && break; sleep 0.5; done
      echo "backed up: $(${fumi} backup --status --json | grep -c '"items":1')"
      echo "environment: $(tr '\\0' '\\n' < /proc/$(main MainPID)/environ | grep ^CODEX_HOME=)"
      echo "priority: $(main Nice) $(main CPUSchedulingPolicy) $(main IOSchedulingClass)"
      kill -9 $(main MainPID)
      for n in $(seq 100); do [ "$(main SubState)" = auto-restart ] && break; sleep 0.05; done
      echo "after a crash: $(main SubState)"
      ${fumi} service uninstall --json
      echo "in the end: $(main LoadState) $(main ActiveState)"
      ${fumi} service status --json`,
      { ...env, LOG: log },
    )
    expect({ status, stderr, lines: stdout.trim().split('\n') }).toEqual({
      status: 0,
      stderr: expect.any(String),
      lines: [
        expect.stringContaining('"running":true'),
        'backed up: 1',
        `environment: CODEX_HOME=${codex}`,
        'priority: 19 5 3',
        'after a crash: auto-restart',
        expect.stringContaining('"removed":true'),
        'in the end: not-found inactive',
        expect.stringContaining('"installed":false'),
      ],
    })
  },
)
