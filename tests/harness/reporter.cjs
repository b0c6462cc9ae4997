// Mocha's spec reporter, which also writes counts and failed tests to a file for `npm test`.
const { writeFileSync } = require('node:fs');
const Mocha = require('mocha');

module.exports = class CountingReporter extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const failed = [];
    runner.on('fail', (test, error) => failed.push({ title: test.fullTitle(), error: error?.stack ?? String(error) }));
    runner.once('end', () => {
      const { passes, failures, pending, tests } = this.stats;
      const file = options.reporterOptions?.counts;
      if (file) writeFileSync(file, JSON.stringify({ passes, failures, pending, tests, failed }));
    });
  }
};
