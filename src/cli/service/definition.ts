/** What the system's service manager needs to know to run `fumi backup --watch`. Pure. */
import { join, win32 } from 'node:path'

export interface ServiceCommand {
  /** Absolute paths of Node.js and of the program. */
  readonly node: string
  readonly program: string
  /** The data directory. */
  readonly directory: string
  /** Variables that decide where agents keep their logs, and where our data is. */
  readonly variables: Readonly<Record<string, string>>
}

export interface ServiceDefinition {
  readonly kind: 'systemd' | 'launchd' | 'task'
  /** The file that defines the service. */
  readonly path: string
  readonly content: string
}

export const SERVICE_NAME = 'fumibako-backup'
/** Reverse domain names are the custom of launchd. */
export const LAUNCHD_LABEL = 'local.fumibako.backup'
export const TASK_NAME = 'fumibako backup'

const ARGUMENTS = ['backup', '--watch', '--json'] as const

/** Variables of this process that the service must have as well. */
const PASSED_ON =
  /^(?:FUMI_(?!EXCHANGE_PASSPHRASE|BASE_URL|.*KEY)\w+|XDG_(?:DATA|CONFIG|STATE)_HOME|\w+_(?:HOME|CONFIG_DIR))$/

export function variablesToPassOn(
  variables: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const named = Object.entries(variables).filter(([name, value]) => PASSED_ON.test(name) && value)
  return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1))) as Record<string, string>
}

export interface ServiceHost {
  readonly platform: NodeJS.Platform
  readonly home: string
  readonly variables: Readonly<Record<string, string | undefined>>
}

/** Undefined if the system has no service manager that we know. */
export function defineService(host: ServiceHost, command: ServiceCommand): ServiceDefinition | undefined {
  const { platform, home, variables } = host
  if (platform === 'darwin') {
    const path = join(home, 'Library', 'LaunchAgents', `${LAUNCHD_LABEL}.plist`)
    return { kind: 'launchd', path, content: launchAgent(command) }
  }
  if (platform === 'win32')
    return { kind: 'task', path: win32.join(command.directory, 'service.xml'), content: windowsTask(command) }
  if (platform !== 'linux') return undefined
  const config = variables['XDG_CONFIG_HOME'] || join(home, '.config')
  return {
    kind: 'systemd',
    path: join(config, 'systemd', 'user', `${SERVICE_NAME}.service`),
    content: systemdUnit(command),
  }
}

function systemdUnit({ node, program, variables }: ServiceCommand): string {
  const command = [node, program, ...ARGUMENTS].map(quoteForSystemd).join(' ').replaceAll('$', '$$$$')
  const environment = Object.entries(variables).map(
    ([name, value]) => `Environment=${quoteForSystemd(`${name}=${value}`)}\n`,
  )
  return `# Written by fumi service install; removed by fumi service uninstall.
[Unit]
Description=fumibako: back up conversations of coding agents

[Service]
Type=exec
ExecStart=${command}
${environment.join('')}Restart=on-failure
RestartSec=60
Nice=19
CPUSchedulingPolicy=idle
IOSchedulingClass=idle
NoNewPrivileges=yes
UMask=0077
StandardOutput=null

[Install]
WantedBy=default.target
`
}

/** Quotes a word of ExecStart or Environment, where `%` has a meaning. In ExecStart, `$` has one as well. */
const quoteForSystemd = (word: string): string =>
  `"${word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')}"`

function launchAgent({ node, program, variables }: ServiceCommand): string {
  const words = [node, program, ...ARGUMENTS].map((word) => `    <string>${escapeXml(word)}</string>\n`)
  const environment = Object.entries(variables).map(
    ([name, value]) => `    <key>${escapeXml(name)}</key>\n    <string>${escapeXml(value)}</string>\n`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LAUNCHD_LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${words.join('')}  </array>
  <key>EnvironmentVariables</key>
  <dict>
${environment.join('')}  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>60</integer>
  <key>ProcessType</key>
  <string>Background</string>
  <key>LowPriorityIO</key>
  <true/>
  <key>Nice</key>
  <integer>19</integer>
</dict>
</plist>
`
}

/** Task Scheduler passes no variables of its own, so they are set by a command line. */
function windowsTask({ node, program, variables }: ServiceCommand): string {
  const words = [node, program, ...ARGUMENTS].map(quoteForWindows).join(' ')
  const set = Object.entries(variables).map(([name, value]) => `set "${name}=${value}" && `)
  const command = set.length === 0 ? undefined : `/d /c "${set.join('')}${words}"`
  const [program0, args] =
    command === undefined
      ? [node, [program, ...ARGUMENTS].map(quoteForWindows).join(' ')]
      : ['C:\\Windows\\System32\\cmd.exe', command]
  return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>fumibako: back up conversations of coding agents</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Hidden>true</Hidden>
    <Priority>8</Priority>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>255</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>${escapeXml(program0)}</Command>
      <Arguments>${escapeXml(args)}</Arguments>
    </Exec>
  </Actions>
</Task>
`
}

const quoteForWindows = (word: string): string => `"${word.replaceAll('"', '')}"`

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
