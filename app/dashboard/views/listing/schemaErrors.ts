/** The faults of a draft's schemas and of its test, by field. What finds them is large, so it is loaded here. */
import { useQuery } from '@tanstack/react-query';
import { type Draft, type DraftErrors, readSchema } from './draft.ts';

/** Undefined until the first check has ended. */
export function useSchemaErrors({ input_schema, output_schema, test_parameters }: Draft): DraftErrors | undefined {
  const { data } = useQuery({
    queryKey: ['schema-errors', input_schema, output_schema, test_parameters],
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    placeholderData: (before: DraftErrors | undefined) => before,
    queryFn: async (): Promise<DraftErrors> => {
      const { checkInput, checkOutput } = await import('./schemaCheck.ts');
      const faultOf = (text: string, check: typeof checkInput) => {
        const [fault] = check(readSchema(text));
        return fault && `${fault.path} ${fault.message}`.trim();
      };
      const [input, output] = [faultOf(input_schema, checkInput), faultOf(output_schema, checkOutput)];
      const errors = { ...(input && { input_schema: input }), ...(output && { output_schema: output }) };
      return input ? errors : { ...errors, ...(await findTestErrors(input_schema, test_parameters)) };
    },
  });
  return data;
}

async function findTestErrors(schema: string, value: unknown): Promise<DraftErrors> {
  const { describeFlaw, findFlaws } = await import('../../parts/form/validator.ts');
  const [flaw] = findFlaws(readSchema(schema) ?? {}, value);
  return flaw ? { test_parameters: describeFlaw(flaw) } : {};
}
