/** Faults of a draft's schemas, and of its test against the schema. The code is loaded lazily. */
import { useQuery } from '@tanstack/react-query';
import { type Draft, type DraftErrors, readSchema } from './draft.ts';

/** Undefined until the first check has ended. */
export function useSchemaErrors({ input_schema, output_schema, test_parameters }: Draft): DraftErrors | undefined {
  const { data } = useQuery({
    queryKey: ['schema-errors', input_schema, output_schema, test_parameters],
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    placeholderData: (before: DraftErrors | undefined) => before,
    queryFn: async () => {
      const { findSchemaErrors } = await import('./schemaCheck.ts');
      const errors = findSchemaErrors(input_schema, output_schema);
      return errors.input_schema ? errors : { ...errors, ...(await findTestErrors(input_schema, test_parameters)) };
    },
  });
  return data;
}

async function findTestErrors(schema: string, value: unknown): Promise<DraftErrors> {
  const { describeFlaw, findFlaws } = await import('../../parts/form/validator.ts');
  const [flaw] = findFlaws(readSchema(schema) ?? {}, value);
  return flaw ? { test_parameters: describeFlaw(flaw) } : {};
}
