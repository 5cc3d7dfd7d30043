// Runs a script of the Job DSL plugin with the methods that are listed here, and prints what it called, as a tree in JSON.
// Anything else fails, as in Jenkins. The list: pipelineJob's, and the dynamic methods of the trigger's property.
import groovy.json.JsonOutput
import org.codehaus.groovy.control.CompilerConfiguration

class Context {
  static final Map ALLOWED = [
    '': ['pipelineJob'],
    pipelineJob: ['description', 'properties', 'definition'],
    properties: ['pipelineTriggers'],
    pipelineTriggers: ['triggers'],
    triggers: ['cron'],
    cron: ['spec'],
    definition: ['cpsScm'],
    cpsScm: ['scm', 'scriptPath', 'lightweight'],
    scm: ['git'],
    git: ['remote', 'branch'],
    remote: ['url', 'credentials'],
  ]
  String place
  Map calls = [:]

  def invoke(String name, List arguments) {
    if (!(name in ALLOWED[place])) throw new MissingMethodException(name, Context, arguments as Object[])
    Closure body = arguments && arguments[-1] instanceof Closure ? arguments.pop() : null
    if (!body) { calls[name] = arguments[0]; return null }
    Context inner = new Context(place: name)
    body.delegate = new Delegate(context: inner)
    body.resolveStrategy = Closure.DELEGATE_ONLY
    body()
    calls[arguments ? "$name ${arguments[0]}".toString() : name] = inner.calls
    return null
  }
}

class Delegate {
  Context context
  def methodMissing(String name, arguments) { context.invoke(name, arguments as List) }
}

abstract class Seed extends Script {
  static Context top = new Context(place: '')
  def methodMissing(String name, arguments) { top.invoke(name, arguments as List) }
}

def compiler = new CompilerConfiguration(scriptBaseClass: Seed.name)
new GroovyShell(getClass().classLoader, new Binding(), compiler).evaluate(new File(args[0]))
println JsonOutput.toJson(Seed.top.calls)
