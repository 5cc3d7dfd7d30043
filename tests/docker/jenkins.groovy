// Runs the Jenkinsfile as Jenkins would, with steps that only record their calls. Arguments: the Jenkinsfile, and a JSON object
// of builds by name: params, env, previous (result of the previous build), codes (exit codes of the sweeps, in order; "abort"
// and "lost" end the build as Jenkins does). Prints for each {result, calls: [[step, argument, env], ...]}.
import groovy.json.JsonOutput
import groovy.json.JsonSlurper
import org.codehaus.groovy.control.CompilerConfiguration

class Stopped extends RuntimeException {
  String result
  Stopped(String result, String message) { super(message); this.result = result }
}

abstract class Jenkins extends Script {
  static List calls = []
  static Map scenario = [:]
  static Map variables = [:]
  static String result = 'SUCCESS'
  static Closure main
  static Closure after
  static final List RECORDED = ['choice', 'booleanParam', 'cron', 'disableConcurrentBuilds', 'timestamps',
    'buildDiscarder', 'logRotator', 'usernamePassword', 'junit', 'recordIssues', 'issues', 'archiveArtifacts', 'mail',
    'echo', 'deleteDir', 'writeFile', 'label']
  static final List BLOCKS = ['parameters', 'triggers', 'options', 'steps', 'script', 'agent']

  def getParams() { scenario.params }
  String getNone() { 'none' }
  def getEnv() { variables }
  def getCurrentBuild() { [previousBuild: scenario.previous ? [result: scenario.previous] : null] }

  def record(String step, argument) {
    calls << [step, argument instanceof Map ? argument : "$argument".toString(), new LinkedHashMap(variables)]
    return [(step): argument]
  }

  void run(Closure body, delegate = null) {
    body.delegate = delegate ?: this
    body.resolveStrategy = delegate ? Closure.DELEGATE_FIRST : Closure.OWNER_FIRST
    body()
  }

  def inEnvironment(Map added, Closure body) {
    Map before = new LinkedHashMap(variables)
    variables.putAll(added)
    try { return body() } finally { variables.clear(); variables.putAll(before) }
  }

  // --- blocks of a declarative pipeline

  void pipeline(Closure body) {
    run(body)
    try { run(main) } catch (Stopped stopped) {
      result = stopped.result
      calls << ['stopped', stopped.message, [:]]
    }
    if (after) run(after)
  }

  // Jenkins evaluates a block's environment, agent and conditions before its stages, in any order of the text.
  void stage(String name, Closure body) {
    def parts = new Parts(this)
    body.delegate = parts
    body.resolveStrategy = Closure.DELEGATE_FIRST
    body()
    if (parts.condition != null && !parts.condition.call()) { record('skipped', name); return }
    record('stage', name)
    parts.go()
  }

  void environment(Closure body) { run(body, new Environment(this)) }

  // Whatever the order of the text, the stages come after the rest, and `post` after the stages.
  void stages(Closure body) { main = body }
  // The conditions of the end; only `failure` is used.
  void post(Closure body) { after = body }
  void failure(Closure body) { if (result == 'FAILURE') run(body) }

  def methodMissing(String name, arguments) {
    List given = arguments as List
    if (name == 'agent' && given[0] == none) return record('agent', none)
    if (name in BLOCKS) { run(given[-1] as Closure); return null }
    if (name in RECORDED || name == 'string') { return record(name, given ? given[0] : '') }
    throw new MissingMethodException(name, getClass(), arguments as Object[])
  }

  // --- steps

  def timeout(Map limit, Closure body = null) { record('timeout', limit); return body ? body() : null }
  def withCredentials(List bound, Closure body) { record('withCredentials', bound.toString()); return body() }
  def withEnv(List added, Closure body) {
    inEnvironment(added.collectEntries { it.toString().split('=', 2) as List }, body)
  }
  def dir(String path, Closure body) { record('dir', path); return body() }
  String readFile(String path) { "content of $path" }
  void error(String message) { throw new Stopped('FAILURE', message) }
  void unstable(String message) { record('unstable', message); result = 'UNSTABLE' }

  def sh(String script) { return sh([script: script]) }
  def sh(Map options) {
    record('sh', [script: options.script.toString(), kind: options.script.getClass().simpleName])
    def code = options.script.contains(' sweep') ? scenario.codes.remove(0) : 0
    if (code == 'abort') throw new Stopped('ABORTED', 'aborted by a person')
    if (code == 'lost') throw new Stopped('FAILURE', 'agent was removed')
    if (options.returnStatus) return code
    if (code) error("script returned exit code $code")
    return null
  }
}

// The parts of a stage or matrix.
class Parts {
  Jenkins jenkins
  Closure condition
  Closure environment
  Closure steps
  Closure inner
  Closure node
  boolean inMatrix
  Closure cellCondition
  String axis
  List values = [null]
  Parts(Jenkins jenkins) { this.jenkins = jenkins }
  void beforeAgent(boolean first) {}
  void when(Closure body) { body.delegate = this; body.resolveStrategy = Closure.DELEGATE_FIRST; body() }
  void expression(Closure body) { if (inMatrix) cellCondition = body else condition = body }
  void environment(Closure body) { environment = body }
  void steps(Closure body) { steps = body }
  void stages(Closure body) { inner = body }
  void agent(Closure body) { node = body }
  void matrix(Closure body) { inMatrix = true; body.delegate = this; body.resolveStrategy = Closure.DELEGATE_FIRST; body() }
  void axes(Closure body) { matrix(body) }
  void axis(Closure body) { matrix(body) }
  void name(String text) { axis = text }
  void values(Object... given) { values = given as List }
  void go() {
    values.each { value ->
      jenkins.inEnvironment(axis ? [(axis): value] : [:]) {
        if (axis) jenkins.binding.setVariable(axis, value)
        if (cellCondition && !cellCondition.call()) return
        if (node) jenkins.run(node)
        if (environment) jenkins.environment(environment)
        if (steps) jenkins.run(steps)
        if (inner) jenkins.run(inner)
      }
    }
  }
}

class Environment {
  Jenkins jenkins
  Environment(Jenkins jenkins) { this.jenkins = jenkins }
  void setProperty(String name, value) { Jenkins.variables[name] = value.toString() }
  def getProperty(String name) { jenkins.getProperty(name) }
}

Map answers = new JsonSlurper().parseText(args[1]).collectEntries { name, build ->
  Jenkins.with { scenario = build; calls = []; result = 'SUCCESS'; after = null; variables = new LinkedHashMap(build.env) }
  def compiler = new CompilerConfiguration(scriptBaseClass: Jenkins.name)
  new GroovyShell(getClass().classLoader, new Binding(), compiler).evaluate(new File(args[0]))
  [(name): [result: Jenkins.result, calls: Jenkins.calls]]
}
println JsonOutput.toJson(answers)
