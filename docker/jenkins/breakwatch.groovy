// The job, for the Job DSL plugin. Its parameters and everything else are in the Jenkinsfile: they appear after the first build.
pipelineJob('breakwatch') {
  description('Sweeps the list of models, compares with a baseline, and publishes the reports')
  properties {
    pipelineTriggers {
      triggers {
        // The Jenkinsfile's, which Jenkins learns in the first build.
        cron {
          spec('H H(1-5) * * *')
        }
      }
    }
  }
  definition {
    cpsScm {
      scm {
        git {
          remote {
            url(System.getenv('BREAKWATCH_REPOSITORY'))
          }
          branch(System.getenv('BREAKWATCH_BRANCH'))
        }
      }
      scriptPath('Jenkinsfile')
    }
  }
}
